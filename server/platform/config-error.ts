/** A setting that stops the start: its name, what is wrong, and how to mend it, in one line. */
export class ConfigError extends Error {}
