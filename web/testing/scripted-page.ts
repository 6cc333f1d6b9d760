/** Renders components of pages with scripted responses of the service. */
import { isObject } from '@countersign/protocol/formats/json'
import type { ComponentType } from 'preact'
import { renderInPage, type Rendered } from './render.ts'

/** A request of a page, such as `GET /api/organizations/1/members`, with its query, headers and body. */
export type PageRequest = { name: string; query: URLSearchParams; headers: Headers; body: unknown }

/** An error response. */
export class Refused {
  readonly status: number
  readonly code: string
  readonly description: string

  constructor(status: number, code: string, description = code) {
    this.status = status
    this.code = code
    this.description = description
  }
}

/** A request without a response. */
export const lostAnswer = Symbol('lost answer')

export type Script = (request: PageRequest) => unknown

const nothing = () => {}

/** What browsers have, and happy-dom does not, or does not have among the globals of this process. */
function completeBrowser(): void {
  for (const name of ['sessionStorage', 'history'] as const)
    Object.defineProperty(globalThis, name, { value: Reflect.get(window, name), configurable: true })
  const { addEventListener, removeEventListener } = window
  const bound = {
    addEventListener: addEventListener.bind(window),
    removeEventListener: removeEventListener.bind(window),
  }
  Object.assign(globalThis, bound, { scrollTo: nothing })
  Object.assign(HTMLElement.prototype, { hidePopover: nothing, showModal: nothing })
}

/**
 * Answers the requests of the pages: with JSON, with an error (`Refused`), with 204 for null, or not (`lostAnswer`).
 * Returns the requests as they come, without those for a signature and for the token of the page.
 */
function answerBy(script: Script): PageRequest[] {
  const requests: PageRequest[] = []
  const fetch = async (input: URL | string, init: RequestInit = {}): Promise<Response> => {
    const { pathname, searchParams: query } = new URL(input)
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
    const request = { name: `${init.method ?? 'GET'} ${pathname}`, query, headers: new Headers(init.headers), body }
    if (pathname === '/api/auth/session/business')
      return Response.json({ businessToken: 'token', expiresInSeconds: 600 })
    if (isObject(body) && 'signedAction' in body)
      return refusal(new Refused(422, 'no_signing_key'), { signatureRequired: false })
    requests.push(request)
    const answer = await script(request)
    if (answer instanceof Refused) return refusal(answer)
    if (answer === lostAnswer) throw new TypeError('The connection broke off')
    if (answer === undefined) throw new Error(`no answer to ${request.name}`)
    return answer === null ? new Response(null, { status: 204 }) : Response.json(answer)
  }
  Object.defineProperty(globalThis, 'fetch', { value: fetch, configurable: true, writable: true })
  return requests
}

function refusal({ status, code, description }: Refused, fields: object = {}): Response {
  return Response.json({ error: code, error_description: description, ...fields }, { status })
}

export type ScriptedPage = Rendered & {
  /** The requests so far. */
  requests: PageRequest[]
  click: (selector: string) => Promise<void>
}

/** An answer takes some turns of the event loop, until it is parsed and drawn, or another request begins. */
const turnsOfAnswer = 5

/** Renders a component. `after` also waits for the answers that the script does not hold back. */
export async function renderScripted(View: ComponentType, script: Script): Promise<ScriptedPage> {
  completeBrowser()
  const requests = answerBy(script)
  const page = await renderInPage(View)
  const after = async (change: () => unknown) => {
    await page.after(change)
    for (let turns = 0, seen = requests.length; turns < turnsOfAnswer; turns += 1) {
      await page.after(nothing)
      if (seen !== requests.length) turns = 0
      seen = requests.length
    }
  }
  await after(nothing)
  return { ...page, requests, after, click: (selector) => after(() => page.find(selector).click()) }
}
