import { actChallenge, actMessage } from '@countersign/protocol/formats/acts/act'
import { presenceDigest } from '@countersign/protocol/formats/signing/approval'
import type { JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import type { StartedAct } from '@countersign/protocol/organizations/acts'
import { evidenceOf, sha256 } from './approver.ts'
import type { AuthenticatorOverrides } from './authenticator.ts'
import { businessRequest } from './organization.ts'
import type { createSigner, SigningPair } from './signer.ts'
import type { TestWorld } from './world.ts'

type Signer = Awaited<ReturnType<typeof createSigner>>
/** Member with a passkey and a signing key. */
export type Actor = Pick<Signer, 'authenticator' | 'pair' | 'headers'>
type What = Parameters<typeof businessRequest>[2]

/** Deviations of a signed act that a test expects to be rejected. */
export type ActOverrides = {
  /** Changes of the statement that the passkey and the key sign. */
  statement?: Record<string, unknown>
  assertion?: AuthenticatorOverrides
  authenticator?: Signer['authenticator']
  /** Key that signs the statement. */
  pair?: SigningPair
}

/** Builds the body with which a member does a started act, as their browser does. */
export function signedActOf(actor: Pick<Actor, 'authenticator' | 'pair'>, text: string, bent: ActOverrides = {}) {
  const { authenticator = actor.authenticator, pair = actor.pair } = bent
  const statement: JsonObject = { ...JSON.parse(text), ...bent.statement }
  const challenge = Buffer.from(actChallenge(sha256, statement)).toString('base64url')
  const credential = authenticator.authenticate({ challenge }, bent.assertion)
  const presence = presenceDigest(sha256, evidenceOf({ authenticator }, credential))
  return { signature: pair.signBytes(actMessage(statement, presence)), credential }
}

/** Sends the requests of a member who acts in organizations. */
export function actorOf(world: TestWorld, actor: Actor) {
  const pathOf = (organizationId: string, actId: string) => `/organizations/${organizationId}/acts/${actId}`
  const organizationOf = ({ statement }: Pick<StartedAct, 'statement'>): string => JSON.parse(statement).organizationId
  return {
    /** Starts an act by a request of the endpoint. */
    async start(what: What, payload: object = {}): Promise<StartedAct> {
      const answer = await businessRequest(world, actor, what, { ...payload, signedAction: {} })
      if (answer.json().error !== 'signed_action_required') throw new Error(`act not started: ${answer.body}`)
      return answer.json()
    },
    read: (started: StartedAct, query = '') =>
      businessRequest(world, actor, `GET ${pathOf(organizationOf(started), started.actId)}${query}`),
    decline: (started: StartedAct) =>
      businessRequest(world, actor, `DELETE ${pathOf(organizationOf(started), started.actId)}`),
    send: (started: StartedAct, body: object, organizationId = organizationOf(started)) =>
      businessRequest(world, actor, `POST ${pathOf(organizationId, started.actId)}`, body),
    /** Signs and does a started act. */
    do(started: StartedAct, bent: ActOverrides = {}) {
      return this.send(started, signedActOf(actor, started.statement, bent))
    },
    /** Starts, signs and does an act. */
    async act(what: What, payload: object = {}, bent: ActOverrides = {}) {
      return this.do(await this.start(what, payload), bent)
    },
  }
}
