/** What the log's line of an answered request says. Apart from the log, which brings its library along. */
export const REQUEST = "request";
