import { Type, type Static } from 'typebox'
import { endpoint, Nothing, orNoBody } from '../endpoint.ts'
import { DisplayName, Handle, Identity } from './identities.ts'
import { KeyWrap, NewKeyPair, NewKeyWraps, PasskeyWrap, RecoveryAuth } from './keys.ts'
import { CredentialId, Instant, Uuid, WebUrl } from '../values.ts'
import { AuthenticationResponse, CreationOptions, RegistrationResponse, RequestOptions } from './webauthn.ts'

/** The reference of the authorization request that the passkey is used for: it counts for no other. */
const RequestUri = Type.String({ maxLength: 1000 })
const FlowId = Type.String({ minLength: 1, maxLength: 100 })
const User = Type.Object({ userId: Uuid })
const page = { security: 'none', cors: 'our pages' } as const
const session = { security: 'session', cors: 'our pages' } as const

export const RegistrationStarted = Type.Object({
  flowId: FlowId,
  options: CreationOptions,
  userId: Uuid,
  identityId: Uuid,
})
export type RegistrationStarted = Static<typeof RegistrationStarted>

export const startRegistration = endpoint(
  'POST /api/auth/register/start',
  { ...page, summary: 'Begin an account: the options of its first passkey' },
  { body: Type.Object({ handle: Handle, displayName: DisplayName }) },
  { 200: RegistrationStarted },
)

export const RegistrationFinish = Type.Object({
  flowId: FlowId,
  credential: RegistrationResponse,
  keyWraps: Type.Optional(NewKeyWraps),
  signingKey: Type.Optional(NewKeyPair),
  encryptionKey: Type.Optional(NewKeyPair),
  recoveryAuth: Type.Optional(RecoveryAuth),
})
export type RegistrationFinish = Static<typeof RegistrationFinish>

export const finishRegistration = endpoint(
  'POST /api/auth/register/finish',
  { ...page, summary: 'Complete an account and sign in' },
  { body: RegistrationFinish },
  {
    201: Type.Object({
      sessionToken: Type.String(),
      expiresAt: Instant,
      user: User,
      identities: Type.Array(Identity),
    }),
  },
)

export const RequestStarted = Type.Object({ flowId: FlowId, options: RequestOptions })

const SignedIn = Type.Object({
  sessionToken: Type.String(),
  expiresAt: Instant,
  user: User,
  identities: Type.Array(Identity),
  keyWraps: Type.Array(KeyWrap),
})

export const startSignIn = endpoint(
  'POST /api/auth/login/start',
  { ...page, summary: 'Begin signing in with a passkey' },
  {
    body: Type.Object({
      handle: Type.Optional(Type.String({ maxLength: 200 })),
      requestUri: Type.Optional(RequestUri),
    }),
  },
  { 200: RequestStarted },
)

export const finishSignIn = endpoint(
  'POST /api/auth/login/finish',
  { ...page, summary: 'Sign in with a passkey' },
  { body: Type.Object({ flowId: FlowId, credential: AuthenticationResponse }) },
  { 200: SignedIn },
)

export const startReauthentication = endpoint(
  'POST /api/auth/reauthenticate/start',
  { ...session, summary: 'Begin proving my presence again' },
  { body: orNoBody(Type.Object({ requestUri: Type.Optional(RequestUri) })) },
  { 200: RequestStarted },
)

export const finishReauthentication = endpoint(
  'POST /api/auth/reauthenticate/finish',
  { ...session, summary: 'Prove my presence again with a passkey' },
  { body: Type.Object({ flowId: FlowId, credential: AuthenticationResponse }) },
  { 200: Type.Object({ authTime: Instant }) },
)

export const Passkey = Type.Object({
  credentialId: CredentialId,
  name: Type.String(),
  createdAt: Instant,
  lastUsedAt: Instant,
  backedUp: Type.Boolean(),
  opensKeys: Type.Boolean({ description: 'Whether a wrap of the master key is bound to this passkey' }),
})
export type Passkey = Static<typeof Passkey>

export const listPasskeys = endpoint(
  'GET /api/auth/passkeys',
  { ...session, summary: 'List my passkeys' },
  {},
  { 200: Type.Object({ passkeys: Type.Array(Passkey) }) },
)

export const CreationStarted = Type.Object({ flowId: FlowId, options: CreationOptions })

export const startPasskey = endpoint(
  'POST /api/auth/passkeys/start',
  { ...session, summary: 'Begin adding a passkey' },
  {},
  { 200: CreationStarted },
)

export const finishPasskey = endpoint(
  'POST /api/auth/passkeys/finish',
  { ...session, summary: 'Add a passkey, with the wrap that lets it open my keys' },
  {
    body: Type.Object({
      flowId: FlowId,
      credential: RegistrationResponse,
      keyWrap: Type.Optional(PasskeyWrap),
    }),
  },
  { 201: Passkey },
)

const ByCredential = Type.Object({ credentialId: CredentialId })

export const renamePasskey = endpoint(
  'PATCH /api/auth/passkeys/:credentialId',
  { ...session, summary: 'Rename one of my passkeys' },
  { params: ByCredential, body: Type.Object({ name: DisplayName }, { additionalProperties: false }) },
  { 200: Passkey },
)

export const removePasskey = endpoint(
  'DELETE /api/auth/passkeys/:credentialId',
  { ...session, summary: 'Remove one of my passkeys; the last one stays' },
  { params: ByCredential },
  { 204: Nothing },
)

export const isPasskeyKnown = endpoint(
  'POST /api/auth/passkeys/known',
  { ...page, summary: 'Whether a passkey is still of use here, so that a browser can stop offering one that is not' },
  { body: ByCredential },
  { 200: Type.Object({ known: Type.Boolean() }) },
)

export const startRecovery = endpoint(
  'POST /api/auth/recover/start',
  { ...page, summary: 'Begin on a new device with a recovery code: the options of a new passkey' },
  { body: Type.Object({ handle: Type.String({ maxLength: 200 }), recoveryAuth: RecoveryAuth }) },
  { 200: CreationStarted },
)

export const finishRecovery = endpoint(
  'POST /api/auth/recover/finish',
  { ...page, summary: 'Add the new passkey, sign in, and end all other sessions. Spends the recovery code' },
  { body: Type.Object({ flowId: FlowId, credential: RegistrationResponse }) },
  { 200: SignedIn },
)

export const passkeyEndpoints = endpoint(
  'GET /.well-known/passkey-endpoints',
  { security: 'none', cors: 'any origin', host: 'auth', summary: 'Where people add and manage passkeys' },
  {},
  { 200: Type.Object({ enroll: WebUrl, manage: WebUrl }) },
)
