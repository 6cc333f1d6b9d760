import type { Service } from '../../server/testing/service.ts'
import { registerApp, registerCustomer, type Customer, type Lineage } from './customer.ts'

export type Load = Awaited<ReturnType<typeof beginLoad>>

/** Customers of one app who sign in, connect, refresh, read and disconnect, all at once, until they are stopped. */
export async function beginLoad(service: Service, { customers: count = 12 } = {}) {
  const app = await registerApp(service)
  const customers = await Promise.all(Array.from({ length: count }, () => registerCustomer(service, app)))
  const stopped = new AbortController()
  const turns = customers.map(async (customer) => {
    while (!stopped.signal.aborted) await takeTurn(customer)
  })
  // Watched from the start: a turn that fails must not be an unhandled rejection before somebody waits for it.
  const ended = Promise.all(turns)
  ended.catch(() => {})
  return {
    customers,
    /** Resolves when the last turn has ended; rejects where a request was answered 500. */
    async stop(): Promise<void> {
      stopped.abort()
      await ended
    },
  }
}

async function takeTurn(customer: Customer): Promise<unknown> {
  const lineage = customer.lineages.findLast(isOpen)
  const chance = Math.random()
  if (chance < 0.1) return customer.signIn()
  if (chance < 0.15) return customer.disconnect()
  if (!lineage || chance < 0.35) return connect(customer)
  if (chance < 0.7) return customer.refresh(lineage, lineage.live)
  return customer.userinfo(lineage.access.at(-1) ?? '')
}

/** Consents and redeems, but now and then leaves the code for whoever comes after. */
async function connect(customer: Customer): Promise<void> {
  const lineage = await customer.consent()
  if (lineage && Math.random() < 0.8) await customer.redeem(lineage)
}

function isOpen(lineage: Lineage): lineage is Lineage & { live: string } {
  return lineage.live !== undefined && lineage.rotated === 'no' && lineage.ended === 'no'
}

/**
 * Whether the service remembers all that it acknowledged to this customer and brings nothing back; what it left
 * unanswered may have been done or not, but not by half. Answers what is wrong. It presents what is spent, so that no
 * lineage lives after it.
 */
export async function findForgotten(customer: Customer): Promise<string[]> {
  const wrong: string[] = []
  for (const session of customer.sessions)
    if ((await customer.readSession(session))?.status !== 200) wrong.push('a session was forgotten')
  for (const lineage of customer.lineages) wrong.push(...(await findForgottenOf(customer, lineage)))
  return wrong
}

/** Whether anything that this customer ever had works again, when `findForgotten` has used all of it up. */
export async function findRisen(customer: Customer): Promise<string[]> {
  const wrong: string[] = []
  for (const lineage of customer.lineages) {
    const replies = [
      await customer.redeem(lineage),
      ...(await Promise.all(lineage.spent.map((spent) => customer.refresh(lineage, spent)))),
      ...(await Promise.all(lineage.access.map(customer.userinfo))),
    ]
    if (replies.some((reply) => reply?.status === 200)) wrong.push('something that had ended works again')
  }
  return wrong
}

async function findForgottenOf(customer: Customer, lineage: Lineage): Promise<string[]> {
  const { ended, rotated, redeemed } = { ...lineage }
  const alive = await Promise.all(
    lineage.access.map(async (access) => (await customer.userinfo(access))?.status === 200),
  )
  const wrong: string[] = []
  if (ended === 'yes' && alive.includes(true)) wrong.push('an access token lives on after its end was acknowledged')
  if (ended === 'no' && alive.includes(false)) wrong.push('an access token was forgotten')
  if (ended === 'unknown' && new Set(alive).size > 1) wrong.push('an end came to a part of the access tokens')

  const spentBefore = [...lineage.spent]
  if (lineage.live !== undefined) {
    const again = (await customer.refresh(lineage, lineage.live))?.status
    if (ended === 'yes' && again !== 400) wrong.push(`a refresh token that was ended answers ${again}`)
    // An unanswered rotation may have been done more than ten seconds ago: then its token is a spent one.
    if (ended === 'no' && rotated === 'no' && again !== 200) wrong.push(`a live refresh token answers ${again}`)
    if (ended === 'unknown' && alive.includes(true) && rotated === 'no' && again !== 200)
      wrong.push('an end came to the refresh token and not to the access tokens')
  }
  for (const spent of spentBefore) {
    const status = (await customer.refresh(lineage, spent))?.status
    if (status !== 400) wrong.push(`a refresh token that was spent answers ${status}`)
  }
  const code = (await customer.redeem(lineage))?.status
  const spent = ended === 'yes' || redeemed === 'yes'
  // One that nobody redeemed may have expired since.
  if (code !== 400 && (spent || code !== 200)) wrong.push(`a code, redeemed: ${redeemed}, answers ${code}`)
  if ((await customer.redeem(lineage))?.status !== 400) wrong.push('a code was redeemed twice')
  return wrong
}
