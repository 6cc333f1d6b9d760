const { PATH, NODE_COMPILE_CACHE } = process.env

/** What a command that a test runs has of the test's environment: where programs are, and what was compiled before. */
export const inherited = { PATH, NODE_COMPILE_CACHE }
