import type { Page, Route } from 'playwright-core'
import type { Person } from '../fixtures/person.ts'

type Look = (name: string, window?: Page) => Promise<void>

const approvalUrl = /\/api\/signing\/requests\/[^/]+\/approval$/
const signUrl = /\/api\/signing\/requests\/[^/]+\/sign$/

/** Changes the statement of a started approval. */
const restate = (change: object) => async (route: Route) => {
  if (route.request().method() === 'OPTIONS') return route.continue()
  const response = await route.fetch()
  const body: { statement: string } = await response.json()
  const statement = JSON.stringify({ ...JSON.parse(body.statement), ...change })
  await route.fulfill({ response, json: { ...body, ...change, statement } })
}

/** Answers that the request has changed since the approval was started. */
async function refuse(route: Route): Promise<void> {
  if (route.request().method() === 'OPTIONS') return route.continue()
  const headers = { 'access-control-allow-origin': new URL(route.request().headers()['origin'] ?? '').origin }
  const json = { error: 'approval_changed', error_description: 'The request has changed.' }
  await route.fulfill({ status: 409, headers: { ...headers, 'access-control-allow-credentials': 'true' }, json })
}

/** Visits the signing page of a pending request where it signs nothing, for each reason, and as a frame shows it. */
export async function visitStoppedSigningPages(person: Person, address: string, look: Look): Promise<void> {
  const { page } = person
  const stops = [
    ['statement', approvalUrl, restate({ issuer: 'https://id.example.org' })],
    ['clock', approvalUrl, restate({ challengedAt: '2020-01-01T00:00:00.000Z' })],
    ['changed', signUrl, refuse],
  ] as const
  for (const [why, url, answer] of stops) {
    await page.route(url, answer)
    await page.goto(address)
    await page.locator('[data-action="sign"][aria-disabled="false"]').click()
    await person.control('reload').waitFor()
    await look(`sign-stopped-${why}`)
    await page.unroute(url)
  }
  const framed = await person.context.newPage()
  // A page of its own can be examined as a whole, and shows what a frame does if it has a parent.
  await framed.addInitScript(() => void Object.defineProperty(globalThis, 'parent', { value: { postMessage() {} } }))
  await framed.goto(`${address}&embed=1`)
  await framed.locator('[data-action="deny"]').waitFor()
  await look('sign-framed', framed)
  await framed.close()
}
