/** What comes of pausing all new orders, and of accepting them again, in words for the operator. */
export const pauseWords = {
  pause:
    "New orders of all partners are refused with 503 and the reason from the daemon's next request on. What was " +
    "accepted goes on.",
  resume: "New orders are accepted again from the daemon's next request on. Suppliers that are paused stay so.",
} as const;
