import { findIdentityByOwnHandle, listIdentities, verifiedEmailOf } from '#accounts/identities/identity.ts'
import { lockActiveUser, requireNotSuspended } from '#accounts/identities/suspension.ts'
import type { Config } from '#platform/config/config.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Language, isolate } from '@countersign/protocol/formats/registries/languages'
import { type Letter, type Mail, mailIn } from '#platform/outbound/mail.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { randomUUID } from 'node:crypto'
import type { RegistrationResponse } from '@countersign/protocol/accounts/passkeys'
import { type UserId, asId } from '@countersign/protocol/ids'
import { consumeRecoveryCode, verifyRecoveryCode } from '#accounts/keys/recovery-code.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { transaction } from '#platform/database/database.ts'
import { type ClientBrowser, deviceOf } from '#accounts/sessions/session.ts'
import type { SessionLifecycle } from '#accounts/sessions/ending.ts'
import { verifyAttestation } from './attestation.ts'
import type { FlowClient } from './ceremony.ts'
import { type BoundTo, beginFlow, consumeFlow, creationOptions } from './ceremony.ts'
import { createPasskey, makeRoomForPasskey } from './passkey.ts'
import * as store from './store.ts'

type About = { to: string; handle: string; language: Language } & Pick<Config, 'authUrl' | 'brand'>

/**
 * Notifies all verified addresses of a user that the account was recovered. The recovery is already committed, so a
 * failure to send is only logged.
 */
async function sendRecoveryNotice(kernel: ServerContext, userId: UserId, language: Language): Promise<void> {
  const { db, config, mail, log } = kernel
  const identities = await listIdentities(db, userId)
  const handles = new Map<string, string>()
  for (const identity of identities) {
    const to = verifiedEmailOf(identity)
    if (to !== null) handles.set(to, identity.handle)
  }
  await Promise.all(
    [...handles].map(async ([to, handle]) => {
      try {
        await mail.send(recoveryMail({ to, handle, authUrl: config.authUrl, brand: config.brand, language }))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        // Without the ID of the user, which would join the identities of an account in the log.
        log.warn({ reason: error.code }, 'recovery notification mail failed')
      }
    }),
  )
}

function recoveryMail({ to, handle, authUrl: { host, origin }, brand, language }: About): Mail {
  const letter: Letter = {
    en: {
      subject: `Your ${brand.name} account was recovered`,
      text:
        `Your account @${handle} at ${host} was recovered with the recovery code. ` +
        `A passkey was added and all other sessions were signed out.\n\n` +
        `Wasn’t you? Sign in now, remove that passkey and create a new recovery code: ${origin}/account/passkeys\n`,
    },
    de: {
      subject: `Dein Konto bei ${brand.name} wurde wiederhergestellt`,
      text:
        `Dein Konto @${handle} auf ${host} wurde mit dem Wiederherstellungscode wiederhergestellt. ` +
        `Ein Passkey wurde hinzugefügt, und alle anderen Sitzungen wurden beendet.\n\n` +
        `Das warst nicht du? Melde dich jetzt an, entferne diesen Passkey und erstelle einen neuen ` +
        `Wiederherstellungscode: ${origin}/account/passkeys\n`,
    },
    ar: {
      subject: `تم استرداد حسابك في ${isolate(brand.name)}`,
      text:
        `تم استرداد حسابك ${isolate(`@${handle}`)} على ${isolate(host)} برمز الاسترداد. ` +
        'أُضيف مفتاح مرور، وأُنهيت كل الجلسات الأخرى.\n\n' +
        'إذا لم تكن أنت، فسجّل الدخول الآن، وأزل مفتاح المرور هذا، وأنشئ رمز استرداد جديدًا:\n' +
        `${origin}/account/passkeys\n`,
    },
  }
  return mailIn(language, to, letter)
}

const errors = defineErrors({
  invalid_credential: [401, 'Wrong username or recovery code.'],
  invalid_flow: [400, 'The recovery code was used or replaced in the meantime.'],
})

/**
 * Starts the recovery of an account with its recovery code, by a handle that it has or that is reserved for it. Throws
 * `invalid_credential` with the same response and timing for a wrong code and an unknown handle.
 */
export async function startRecovery(
  { db, config, clock }: ServerContext,
  { handle, recoveryAuth, browserSha256 }: { handle: string; recoveryAuth: string } & BoundTo,
) {
  const now = clock()
  const identity = await findIdentityByOwnHandle(db, handle, now)
  const recoveryAuthSha256 = await verifyRecoveryCode(db, identity?.userId ?? asId<UserId>(randomUUID()), recoveryAuth)
  if (!identity || !recoveryAuthSha256) throw errors.invalid_credential()
  const { userId } = identity
  await requireNotSuspended(db, userId, now)
  const ceremony = { ceremony: 'recover', userId, recoveryAuthSha256, browserSha256 } as const
  const { flowId, challenge } = await beginFlow(db, ceremony, now)
  const existing = await store.listCredentials(db, userId)
  return { flowId, options: creationOptions(config, challenge, identity, existing) }
}

type Finish = { flowId: string; credential: RegistrationResponse; client: FlowClient }

/**
 * Recovers the account in one transaction: consumes the code, stores the passkey, ends all sessions and creates one.
 * The keys stay as they are. An account that has all the passkeys it can have loses one. Throws `invalid_flow`,
 * `invalid_credential` or `credential_in_use`.
 */
export async function finishRecovery(
  { kernel, sessions }: { kernel: ServerContext; sessions: SessionLifecycle },
  finish: Finish,
  { browser, language }: { browser: ClientBrowser; language: Language },
) {
  const { db, config, clock } = kernel
  const now = clock()
  const { userId, recoveryAuthSha256, challenge } = await consumeFlow(db, 'recover', finish, now)
  const made = await verifyAttestation(config, finish.credential, challenge)

  const recovered = await transaction(db, async (tx) => {
    await lockActiveUser(tx, userId, now)
    if (!(await consumeRecoveryCode(tx, userId, recoveryAuthSha256))) throw errors.invalid_flow()
    await makeRoomForPasskey(tx, userId, now)
    await createPasskey(tx, { ...made, userId, browser: { ...browser, language } }, now)
    const sessionsEnded = await sessions.end(tx, { userId, which: 'all' }, now)
    const session = await sessions.start(tx, { ...made, userId }, browser, now)
    const details = { credentialId: made.credentialId, sessionsEnded, device: deviceOf(browser) }
    await recordAuditEvent(tx, { action: 'account.recovered', actor: 'user', userId, details }, now)
    return { ...session, userId }
  })
  await sendRecoveryNotice(kernel, userId, language)
  return recovered
}
