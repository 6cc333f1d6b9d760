import { setTimeout as wait } from 'node:timers/promises'
import type { Service } from '../../server/testing/service.ts'
import { registerApp, registerTestUser, type TestUser, type Family } from './test-user.ts'

export type Load = Awaited<ReturnType<typeof beginLoad>>

/**
 * Users of one app who sign in, connect, refresh, read and disconnect concurrently, until they are stopped. They may
 * rest after each turn.
 */
export async function beginLoad(service: Service, { customers: count = 12, restMilliseconds = 0 } = {}) {
  const app = await registerApp(service)
  const customers = await Promise.all(Array.from({ length: count }, () => registerTestUser(service, app)))
  const stopped = new AbortController()
  let taken = 0
  const turns = customers.map(async (customer) => {
    while (!stopped.signal.aborted) {
      await takeTurn(customer)
      taken += 1
      if (restMilliseconds > 0) await wait(restMilliseconds)
    }
  })
  // Handled from the start: a failed turn must not become an unhandled rejection before it is awaited.
  const ended = Promise.all(turns)
  ended.catch(() => {})
  return {
    customers,
    /** Returns the number of turns so far. */
    turns: () => taken,
    /** Resolves when the last turn has ended; rejects if a request got 500. */
    async stop(): Promise<void> {
      stopped.abort()
      await ended
    },
  }
}

async function takeTurn(customer: TestUser): Promise<unknown> {
  const family = customer.families.findLast(isOpen)
  const chance = Math.random()
  if (chance < 0.1) return customer.signIn()
  if (chance < 0.15) return customer.disconnect()
  if (!family || chance < 0.35) return connect(customer)
  if (chance < 0.7) return customer.refresh(family, family.live)
  return customer.userinfo(family.access.at(-1) ?? '')
}

/** Consents and redeems, but sometimes leaves the code for the next turn. */
async function connect(customer: TestUser): Promise<void> {
  const family = await customer.consent()
  if (family && Math.random() < 0.8) await customer.redeem(family)
}

function isOpen(family: Family): family is Family & { live: string } {
  return family.live !== undefined && family.rotated === 'no' && family.ended === 'no'
}

/**
 * Checks that the service keeps everything that it acknowledged to this user and revives nothing. A request without a
 * response may have been executed or not, but not partially. Returns the problems. It reuses redeemed and rotated
 * tokens, so that no token family is active afterwards.
 */
export async function findLostUpdates(customer: TestUser): Promise<string[]> {
  const wrong: string[] = []
  for (const session of customer.sessions)
    if ((await customer.readSession(session))?.status !== 200) wrong.push('a session was lost')
  for (const family of customer.families) wrong.push(...(await findLostUpdatesOf(customer, family)))
  return wrong
}

/** Checks if anything that this user ever had works again, after `findLostUpdates` has consumed all of it. */
export async function findResurrectedTokens(customer: TestUser): Promise<string[]> {
  const wrong: string[] = []
  for (const family of customer.families) {
    const replies = [
      await customer.redeem(family),
      ...(await Promise.all(family.used.map((token) => customer.refresh(family, token)))),
      ...(await Promise.all(family.access.map(customer.userinfo))),
    ]
    if (replies.some((reply) => reply?.status === 200)) wrong.push('something that had ended works again')
  }
  return wrong
}

async function findLostUpdatesOf(customer: TestUser, family: Family): Promise<string[]> {
  const { ended, rotated, redeemed } = { ...family }
  const alive = await Promise.all(
    family.access.map(async (access) => (await customer.userinfo(access))?.status === 200),
  )
  const wrong: string[] = []
  if (ended === 'yes' && alive.includes(true)) wrong.push('an access token works after its revocation was acknowledged')
  if (ended === 'no' && alive.includes(false)) wrong.push('an access token was lost')
  if (ended === 'unknown' && new Set(alive).size > 1) wrong.push('only a part of the access tokens was revoked')

  const usedBefore = [...family.used]
  if (family.live !== undefined) {
    const again = (await customer.refresh(family, family.live))?.status
    if (ended === 'yes' && again !== 400) wrong.push(`a revoked refresh token gets ${again}`)
    // A rotation without a response may have happened more than ten seconds ago: then its token is an old one.
    if (ended === 'no' && rotated === 'no' && again !== 200) wrong.push(`an active refresh token gets ${again}`)
    if (ended === 'unknown' && alive.includes(true) && rotated === 'no' && again !== 200)
      wrong.push('the refresh token was revoked, but the access tokens were not')
  }
  for (const token of usedBefore) {
    const status = (await customer.refresh(family, token))?.status
    if (status !== 400) wrong.push(`a rotated refresh token gets ${status}`)
  }
  const code = (await customer.redeem(family))?.status
  const isUsed = ended === 'yes' || redeemed === 'yes'
  // A code that was not redeemed may have expired meanwhile.
  if (code !== 400 && (isUsed || code !== 200)) wrong.push(`a code, redeemed: ${redeemed}, gets ${code}`)
  if ((await customer.redeem(family))?.status !== 400) wrong.push('a code was redeemed twice')
  return wrong
}
