/** Something went wrong that one line can explain; whoever typed the command reads its message, and nothing else. */
export class Failure extends Error {}

/** The person at the terminal changed their mind. */
export class Cancelled extends Error {}

/** All of it holds together, by keys for which nobody stands. A script must not take it for verified. */
export class Unproved extends Failure {}
