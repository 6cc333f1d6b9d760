import type { StartedAct } from '@countersign/protocol/organizations/acts'
import type { Proposal } from '@countersign/protocol/organizations/proposals'
import { type Actor, signedActOf } from './actor.ts'
import { businessRequest } from './organization.ts'
import type { TestWorld } from './world.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** A method, and a path after that of the organization. */
type What = Method | `${Method} ${string}`

/** Sends a request to the business host: by a method, and a path after `/api`. Returns status and body. */
export type SendToBusiness = (
  person: Pick<Actor, 'headers'>,
  what: `${Method} ${string}`,
  payload?: object,
) => Promise<{ statusCode: number; body: unknown }>

/** Sends the requests with which the pages of members propose, approve and do what a council decides. */
export function councilOf(send: SendToBusiness, organizationId: string) {
  const path = `/organizations/${organizationId}`
  const succeed = async <Body>(...request: Parameters<SendToBusiness>): Promise<Body> => {
    const { statusCode, body } = await send(...request)
    if (statusCode >= 300) throw new Error(`${request[1]} answered ${statusCode}: ${JSON.stringify(body)}`)
    // What the endpoint answers is asserted by the tests that use it.
    return body as Body
  }
  /** Starts an act; returns what its member is asked to sign. */
  const start = async (by: Actor, what: What, payload: object = {}): Promise<StartedAct> => {
    const [method, rest = ''] = what.split(' ')
    const { statusCode, body } = await send(by, `${method as Method} ${path}${rest}`, { ...payload, signedAction: {} })
    if (statusCode !== 403 || !isStarted(body)) throw new Error(`${what} started no act: ${JSON.stringify(body)}`)
    return body
  }
  /** Tries to do an act; returns the status and the code of the error. */
  const tryAct = async (by: Actor, act: StartedAct) => {
    const { statusCode, body } = await send(by, `POST ${path}/acts/${act.actId}`, signedActOf(by, act.statement))
    return [statusCode, isError(body) ? body.error : undefined]
  }
  const perform = async (by: Actor, act: StartedAct) =>
    succeed<{ action: string; result: unknown }>(by, `POST ${path}/acts/${act.actId}`, signedActOf(by, act.statement))
  const propose = async (by: Actor, what: What, payload?: object): Promise<Proposal> => {
    const { actId } = await start(by, what, payload)
    const { proposal } = await succeed<{ proposal: Proposal }>(by, `POST ${path}/acts/${actId}/proposal`)
    return proposal
  }
  const approve = async (by: Actor, proposalId: string) =>
    perform(by, await succeed<StartedAct>(by, `POST ${path}/proposals/${proposalId}/approval`))
  const complete = async (by: Actor, proposalId: string) =>
    perform(by, await succeed<StartedAct>(by, `POST ${path}/proposals/${proposalId}/act`))
  return {
    start,
    tryAct,
    perform,
    propose,
    approve,
    complete,
    /** Proposes a change, which the others approve, and does it. */
    async decide({ by, others }: { by: Actor; others: Actor[] }, what: What, payload?: object) {
      const { proposalId } = await propose(by, what, payload)
      for (const other of others) await approve(other, proposalId)
      return complete(by, proposalId)
    },
  }
}

/** Sends requests to the business host of a world. */
export function businessOf(world: TestWorld): SendToBusiness {
  return async (person, what, payload) => {
    const answer = await businessRequest(world, person, what, payload)
    return { statusCode: answer.statusCode, body: answer.body === '' ? null : answer.json() }
  }
}

function isStarted(body: unknown): body is StartedAct {
  return typeof body === 'object' && body !== null && 'actId' in body && 'statement' in body
}

function isError(body: unknown): body is { error: string } {
  return typeof body === 'object' && body !== null && 'error' in body
}
