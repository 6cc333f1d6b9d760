import { randomBytes } from 'node:crypto'
import type { openEnterprise } from './enterprise.ts'
import type { TestWorld } from './world.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Headers = Record<string, string>
export type Enterprise = Awaited<ReturnType<typeof openEnterprise>>

/** Number of each thing that a user may have several of. */
const own = 10

/** Wraps a world with a function for requests that must succeed. */
export function openRequestClient(world: TestWorld) {
  async function send(headers: Headers, what: `${Method} ${string}`, payload?: object) {
    const [method, url] = what.split(' ') as [Method, string]
    const host = /^\/api\/(organizations|invitations)/.test(url) ? world.business : world.api
    const answer = await host.inject({ method, url, headers, ...(payload && { payload }) })
    if (answer.statusCode >= 400) throw new Error(`${what}: ${answer.statusCode} ${answer.body}`)
    return /^application\/json\b/.test(String(answer.headers['content-type'])) ? answer.json() : {}
  }
  return { world, send }
}
export type RequestClient = ReturnType<typeof openRequestClient>

export const times = async <Made>(make: (nth: number) => Promise<Made>, count = own): Promise<Made[]> => {
  const made: Made[] = []
  for (let nth = 0; nth < count; nth += 1) made.push(await make(nth))
  return made
}
export const nobody = { authorization: '' }
export const place = { origin: 'http://localhost:4401', rpId: 'localhost' }
export const anything = () => randomBytes(32).toString('base64url')
export const newHandle = () => `someone-${randomBytes(6).toString('hex')}`
export const newAddress = () => `${newHandle()}@example.com`
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export function requestIdIn(answer: { json: () => { requestId: string } }): string {
  return answer.json().requestId
}
