import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import { advanceDue } from '#accounts/recovery-links/completion.ts'
import { auditEventsBy, type NamedEvent } from '#testing/audit-events.ts'
import { codeIn, type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { makeOperator } from '#testing/operators.ts'
import { businessRequest, reauthenticate } from '#testing/organization.ts'
import * as recovery from '#testing/recovery.ts'
import { day, mailedLink, recover, redeem, secretsIn, signIn, verifiedAWeekAgo } from '#testing/recovery.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createSigner, keyProofsOf } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let mailbox: Mailbox
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

type Headers = Record<string, string>
type Method = 'POST' | 'DELETE'

/** Sends a request and requires success. */
async function ask(headers: Headers, method: Method, url: string, payload?: object) {
  const { status, text, body } = await recovery.send(world, url, { method, headers, ...(payload && { payload }) })
  assert.ok(status < 300, `${method} ${url}: ${text}`)
  return body
}

/** An act, and all events that it leaves. Those of an answer are known after it. */
type Act = { act: () => Promise<unknown>; events: NamedEvent[] | (() => NamedEvent[]) }
type Acts = Record<string, () => Promise<Act>>

const namesOf = ({ userId, identityId }: Person) => ({ userId, identityId })
const secondsFromNow = (seconds: number) => new Date(world.now().getTime() + seconds * 1000).toISOString()

/** Returns the mailbox of a user, without notices, which arrive at any time. */
function mailboxOf({ handle }: Person): Mailbox {
  async function take() {
    for (;;) {
      const mail = await mailbox.take()
      if (mail.to.includes(`${handle}@example.org`) && (codeIn(mail) || secretsIn(mail).token)) return mail
    }
  }
  return { ...mailbox, take }
}

/** Creates an operator who recovers people, and what an event says of them. */
async function createRecoverer() {
  const { page: headers, identityId: id } = await makeOperator(world, await world.person(), 'people')
  return { headers, by: { actor: 'operator', operator: { kind: 'operator', id } } }
}

const recoveryActs: Acts = {
  'recovery_link.issued': async () => {
    const person = await world.person()
    await verifiedAWeekAgo(world, mailboxOf(person), { person })
    const { headers, by } = await createRecoverer()
    let recoveryLinkId = ''
    return {
      act: async () => void ({ recoveryLinkId } = (await recovery.issue(world, person, headers)).body),
      events: () => [
        {
          ...{ action: 'recovery_link.issued', ...by, ...namesOf(person) },
          details: { recoveryLinkId, delivery: 'mail', reason: 'Lost the phone' },
        },
      ],
    }
  },
  'recovery_link.cancelled': async () => {
    const person = await world.person()
    const { recoveryLinkId } = await mailedLink(world, mailboxOf(person), person)
    const { headers, by } = await createRecoverer()
    const url = `/api/admin/identities/${person.identityId}/recovery-links/${recoveryLinkId}`
    return {
      act: () => ask(headers, 'DELETE', url),
      events: [{ action: 'recovery_link.cancelled', ...by, ...namesOf(person), details: { recoveryLinkId } }],
    }
  },
  'recovery_link.redeemed': async () => {
    const person = await world.person()
    const { recoveryLinkId, token } = await mailedLink(world, mailboxOf(person), person)
    const details = { recoveryLinkId, device: 'lightMyRequest', validFrom: secondsFromNow(day) }
    return {
      act: () => redeem(world, token),
      events: [{ action: 'recovery_link.redeemed', actor: 'user', ...namesOf(person), details }],
    }
  },
  'recovery_link.completed': async () => {
    const person = await makeOperator(world, await world.person(), 'apps')
    const { recoveryLinkId, token } = await mailedLink(world, mailboxOf(person), person)
    // Recoveries of other tests are due before.
    await advanceDue(world.services)
    await redeem(world, token)
    world.pass(day)
    const of = { actor: 'system', ...namesOf(person) }
    return {
      act: () => advanceDue(world.services),
      events: [
        { action: 'operator.removed', ...of, details: { role: 'apps', by: 'recovery' } },
        { action: 'recovery_link.completed', ...of, details: { recoveryLinkId, holdUntil: secondsFromNow(7 * day) } },
      ],
    }
  },
  'recovery_link.settled': async () => {
    const person = await world.person()
    const { recoveryLinkId } = await recover(world, mailboxOf(person), person)
    world.pass(7 * day)
    return {
      act: () => advanceDue(world.services),
      events: [{ action: 'recovery_link.settled', actor: 'system', ...namesOf(person), details: { recoveryLinkId } }],
    }
  },
}

const answeredRecoveryActs: Acts = {
  'recovery_link.accepted by a session': async () => {
    const person = await world.person()
    const { recoveryLinkId } = await recover(world, mailboxOf(person), person)
    const headers = await person.signIn()
    const details = { recoveryLinkId, by: 'session' }
    return {
      act: () => ask(headers, 'POST', `/api/account/recovery-links/${recoveryLinkId}/acceptance`, {}),
      events: [{ action: 'recovery_link.accepted', actor: 'user', ...namesOf(person), details }],
    }
  },
  'recovery_link.accepted by the recovery code': async () => {
    const person = await world.person()
    const recoveryAuth = randomBytes(32).toString('base64url')
    const code = { recoveryAuth, ciphertext: 'a.b.c.d.e' }
    const { statusCode } = await world.api.inject({
      ...{ method: 'PUT', url: '/api/account/recovery', headers: person.headers, payload: code },
    })
    assert.equal(statusCode, 200)
    const { recoveryLinkId, authenticator } = await recover(world, mailboxOf(person), person)
    const { headers } = await signIn(world, authenticator)
    const details = { recoveryLinkId, by: 'recovery_code' }
    return {
      act: () => ask(headers, 'POST', '/api/account/recovery-limit/lift', { recoveryAuth }),
      events: [{ action: 'recovery_link.accepted', actor: 'user', ...namesOf(person), details }],
    }
  },
  'recovery_link.stopped by a session': async () => {
    const person = await world.person()
    const { recoveryLinkId } = await mailedLink(world, mailboxOf(person), person)
    const details = { recoveryLinkId, by: 'session' }
    return {
      act: () => ask(person.headers, 'DELETE', `/api/account/recovery-links/${recoveryLinkId}`),
      events: [{ action: 'recovery_link.stopped', actor: 'user', ...namesOf(person), details }],
    }
  },
  'recovery_link.undone by mail': async () => {
    const person = await world.person()
    const { recoveryLinkId, stop } = await recover(world, mailboxOf(person), person)
    const details = { recoveryLinkId, by: 'mail' }
    return {
      act: () => ask({}, 'POST', '/api/recovery-links/stop', { stop }),
      events: [{ action: 'recovery_link.undone', actor: 'user', ...namesOf(person), details }],
    }
  },
}

const keyActs: Acts = {
  'account.key_wrap.added': async () => {
    const { headers, userId, authenticator } = await world.person()
    const { credentialId } = authenticator
    const wrap = { kind: 'passkey_prf', credentialId, ciphertext: 'a.b.c.d.e' }
    return {
      act: () => ask(headers, 'POST', '/api/account/key-wraps', wrap),
      events: [{ action: 'account.key_wrap.added', actor: 'user', userId, details: { credentialId } }],
    }
  },
  'encryption_key.created': async () => {
    const person = await world.person()
    const publicKey = generateKeyPairSync('x25519').publicKey.export({ format: 'der', type: 'spki' })
    const key = { publicKey: publicKey.toString('base64'), encryptedPrivateKey: 'a.b.c.d.e' }
    return {
      act: () => ask(person.headers, 'POST', `/api/encryption/keys/${person.identityId}`, key),
      events: [{ action: 'encryption_key.created', actor: 'user', ...namesOf(person) }],
    }
  },
  'signing_key.adopted': async () => {
    const signer = await createSigner(world)
    const { identityId, headers, pair } = signer
    const { previous } = (await signer.readKey()).json().chain
    const proofs = keyProofsOf({ event: 'adopted', identityId, keyVersion: 1, previous, to: pair })
    const details = { keyVersion: 1, linked: false }
    return {
      act: () => ask(headers, 'POST', `/api/signing/keys/${identityId}/adoption`, { previous, ...proofs }),
      events: [{ action: 'signing_key.adopted', actor: 'user', ...namesOf(signer), details }],
    }
  },
}

const change = { approvalsNeeded: 0 }
const proposalActs: Acts = {
  'organization.proposal.created': async () => {
    const { id, owner, council } = await createSignatories(world, 1, 'signer')
    await reauthenticate(world, owner)
    let proposalId = ''
    const { actId } = await council.start(owner, 'PATCH', change)
    const create = `POST /organizations/${id}/acts/${actId}/proposal` as const
    return {
      act: async () => void ({ proposalId } = (await businessRequest(world, owner, create)).json().proposal),
      events: () => [
        {
          ...{ action: 'organization.proposal.created', actor: 'user', ...namesOf(owner), organizationId: id },
          details: { proposalId, proposedAction: 'organization.updated' },
        },
      ],
    }
  },
  'organization.proposal.withdrawn': async () => {
    const { id, owner, council } = await createSignatories(world, 1, 'signer')
    const { proposalId } = await council.propose(owner, 'PATCH', change)
    const of = { actor: 'user', ...namesOf(owner), organizationId: id, details: { proposalId } }
    return {
      act: () => businessRequest(world, owner, `DELETE /organizations/${id}/proposals/${proposalId}`),
      events: [{ action: 'organization.proposal.withdrawn', ...of }],
    }
  },
  'organization.proposal.approved': async () => {
    const { id, owner, council, members } = await createSignatories(world, 1, 'signer')
    const [signer] = members
    const { proposalId } = await council.propose(owner, 'PATCH', change)
    const of = { actor: 'user', ...namesOf(signer), organizationId: id, details: { proposalId } }
    return {
      act: () => council.approve(signer, proposalId),
      events: [{ action: 'organization.proposal.approved', ...of }],
    }
  },
}

for (const [name, prepare] of Object.entries({ ...recoveryActs, ...answeredRecoveryActs, ...keyActs, ...proposalActs }))
  test(`LOG-02 an act is in the audit log once, with its details: ${name}`, async () => {
    const { act, events } = await prepare()
    const recorded = await auditEventsBy(world.db, act)
    assert.deepEqual(recorded, typeof events === 'function' ? events() : events)
  })

test('LOG-02 security events of a user name a recovery that was issued, redeemed and stopped', async () => {
  const person = await world.person()
  const { recoveryLinkId, token, stop } = await mailedLink(world, mailboxOf(person), person)
  await redeem(world, token)
  await ask({}, 'POST', '/api/recovery-links/stop', { stop })
  const answer = await world.api.inject({ url: '/api/account/activity?kind=security&limit=3', headers: person.headers })
  const { entries } = answer.json<{ entries: ActivityEntry[] }>()
  assert.deepEqual(
    entries.map(({ action, actor, identityId, details }) => [action, actor, identityId, details['recoveryLinkId']]),
    [
      ['recovery_link.stopped', 'user', person.identityId, recoveryLinkId],
      ['recovery_link.redeemed', 'user', person.identityId, recoveryLinkId],
      ['recovery_link.issued', 'operator', person.identityId, recoveryLinkId],
    ],
  )
})
