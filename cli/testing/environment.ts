const { PATH, NODE_COMPILE_CACHE } = process.env

/** Environment of a command in a test: the search path of programs, and the compile cache. */
export const inherited = { PATH, NODE_COMPILE_CACHE }
