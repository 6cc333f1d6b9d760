/**
 * Sets the size of Node's thread pool, before its first use. Half of the threads can look up host names (`getaddrinfo`)
 * at a time: two for requests (`host-lookup.ts`), and two for the database, mail and telemetry.
 */
const threadsMin = 8

const { UV_THREADPOOL_SIZE = '0' } = process.env
process.env['UV_THREADPOOL_SIZE'] = String(Math.max(threadsMin, Number(UV_THREADPOOL_SIZE) || 0))
