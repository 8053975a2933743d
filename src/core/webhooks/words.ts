/** What is said of an endpoint before it is disabled or enabled, in terminal and console alike. */
export const ABOUT_DISABLING = "Nothing is sent to it any more; its events are kept as held for 90 days.";
export const ABOUT_ENABLING =
  "New events are sent again and the count of failures starts again. What was held stays held until it is sent again.";
