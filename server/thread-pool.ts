/**
 * Sets the size of Node's thread pool, before its first use. Half of the threads look up host names for everything that
 * does not ask name servers itself: the database, mail, and what OUTBOUND_NETWORKS lists, which has two of the four.
 */
const threadsMin = 8

const { UV_THREADPOOL_SIZE = '0' } = process.env
process.env['UV_THREADPOOL_SIZE'] = String(Math.max(threadsMin, Number(UV_THREADPOOL_SIZE) || 0))
