/** What comes of each thing that people decide about a top-up, in words for them. */
export const verdictWords = {
  complete: "The top-up is applied: its supplier's portal shows that it is on the eSIM. esim.topped_up is sent.",
  fail: "The price goes back to the partner's wallet; esim.topup_failed is sent. Nothing is asked of the supplier.",
  retry: "The daemon goes on where it stopped: what may have been bought is looked up before anything is bought.",
} as const;
