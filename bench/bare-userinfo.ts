/**
 * The minimum cost of userinfo with an opaque access token: `node:http`, the hash of the token, and one named statement
 * for all requests of a turn of the event loop. It sends its address and its tokens to the parent process.
 */
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import pg from 'pg'

type Row = { sha256: Buffer; sub: string; name: string; preferred_username: string; updated_at: number }
type Waiting = { sha256: Buffer; resolve: (row: Row | undefined) => void }

const tokenCount = 1000
const underWayMax = 2
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: underWayMax })
let waiting: Waiting[] = []
let underWay = 0

await pool.query(`
  create table access_token (
    sha256 bytea primary key, sub text not null, name text not null, preferred_username text not null,
    updated_at integer not null, expires_at timestamptz not null
  )`)
const tokens = Array.from({ length: tokenCount }, () => `cs_at_${randomBytes(48).toString('base64url')}`)
await pool.query(
  `insert into access_token
   select sha256, gen_random_uuid(), 'Ada Lovelace', 'ada', 1900000000, now() + interval '1 day'
   from unnest($1::bytea[]) as sha256`,
  [tokens.map((token) => hash('sha256', token, 'buffer'))],
)

function find(sha256: Buffer): Promise<Row | undefined> {
  return new Promise((resolve) => {
    waiting.push({ sha256, resolve })
    if (waiting.length === 1) setImmediate(() => void send())
  })
}

/** Looks up all who wait. Those who come while as many statements are under way as may be wait for one of them. */
async function send(): Promise<void> {
  if (underWay === underWayMax || waiting.length === 0) return
  const [batch, hashes] = [waiting, waiting.map(({ sha256 }) => sha256)]
  waiting = []
  underWay += 1
  const text = 'select * from access_token where sha256 = any($1) and expires_at > $2'
  const { rows } = await pool.query<Row>({ name: 'find', text, values: [hashes, new Date()] })
  underWay -= 1
  void send()
  const found = new Map(rows.map((row) => [row.sha256.toString('latin1'), row]))
  for (const { sha256, resolve } of batch) resolve(found.get(sha256.toString('latin1')))
}

const server = createServer((request, response) => {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
  void find(hash('sha256', token, 'buffer')).then((row) => {
    response.writeHead(row ? 200 : 401, { 'content-type': 'application/json' })
    if (!row) return response.end()
    const { sub, name, preferred_username, updated_at } = row
    return response.end(JSON.stringify({ sub, name, preferred_username, updated_at }))
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
process.send?.({ url: `http://127.0.0.1:${address.port}/userinfo`, tokens })
process.once('disconnect', () => process.exit(0))
