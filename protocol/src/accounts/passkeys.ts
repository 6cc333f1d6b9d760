import { type Static, Type } from 'typebox'
import { IdentityId, UserId } from '../ids.ts'
import { Base64Url, CredentialId, Timestamp, WebUrl } from '../values.ts'
import { NoContent, endpoint, optionalBody } from '../endpoint.ts'
import { DisplayName, Handle, Identity } from './identities.ts'
import { PromisedKeyEvent } from '../signing/transparency.ts'
import {
  FirstSelfRecord,
  KeyWrap,
  NewKeyPair,
  NewKeyWraps,
  NewSigningKeyPair,
  PasskeyWrap,
  RecoveryAuth,
} from './keys.ts'

/**
 * JSON forms of WebAuthn Level 3 (§5.1.8–10, §5.4, §5.5), as far as both sides use them; additional members are kept.
 */

const Descriptor = Type.Object({
  id: Type.String(),
  type: Type.Literal('public-key'),
  transports: Type.Optional(Type.Array(Type.String())),
})

const PrfInput = Type.Object({ eval: Type.Object({ first: Base64Url }) })

export const CreationOptions = Type.Object({
  rp: Type.Object({ id: Type.String(), name: Type.String() }),
  user: Type.Object({ id: Base64Url, name: Type.String(), displayName: Type.String() }),
  challenge: Base64Url,
  pubKeyCredParams: Type.Array(Type.Object({ type: Type.Literal('public-key'), alg: Type.Integer() })),
  timeout: Type.Integer(),
  excludeCredentials: Type.Array(Descriptor),
  authenticatorSelection: Type.Object({
    residentKey: Type.Literal('required'),
    requireResidentKey: Type.Literal(true),
    userVerification: Type.Literal('required'),
  }),
  attestation: Type.Literal('none'),
  extensions: Type.Object({ credProps: Type.Literal(true), prf: PrfInput }),
})
export type CreationOptions = Static<typeof CreationOptions>

export const RequestOptions = Type.Object({
  challenge: Base64Url,
  rpId: Type.String(),
  timeout: Type.Integer(),
  allowCredentials: Type.Array(Descriptor),
  userVerification: Type.Literal('required'),
  extensions: Type.Object({ prf: PrfInput }),
})
export type RequestOptions = Static<typeof RequestOptions>

export const RegistrationResponse = Type.Object({
  id: CredentialId,
  rawId: CredentialId,
  type: Type.Literal('public-key'),
  response: Type.Object({
    clientDataJSON: Base64Url,
    attestationObject: Base64Url,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 10 })),
  }),
  authenticatorAttachment: Type.Optional(Type.String({ maxLength: 32 })),
  clientExtensionResults: Type.Record(Type.String(), Type.Unknown()),
})
export type RegistrationResponse = Static<typeof RegistrationResponse>

export const AuthenticationResponse = Type.Object({
  id: CredentialId,
  rawId: CredentialId,
  type: Type.Literal('public-key'),
  response: Type.Object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
    userHandle: Type.Optional(Type.String()),
  }),
  authenticatorAttachment: Type.Optional(Type.String({ maxLength: 32 })),
  clientExtensionResults: Type.Record(Type.String(), Type.Unknown()),
})
export type AuthenticationResponse = Static<typeof AuthenticationResponse>

/** Reference of the authorization request that the passkey use is bound to; it counts for no other request. */
const RequestUri = Type.String({ maxLength: 1000 })
const FlowId = Type.String({ minLength: 1, maxLength: 100 })
const User = Type.Object({ userId: UserId })
const page = { security: 'none', cors: 'first party' } as const
const session = { security: 'session', cors: 'first party' } as const

export const RegistrationStarted = Type.Object({
  flowId: FlowId,
  options: CreationOptions,
  userId: UserId,
  identityId: IdentityId,
  log: Type.Optional(Type.String({ description: 'Name of the log of signing keys, for the proof of the first key' })),
})
export type RegistrationStarted = Static<typeof RegistrationStarted>

/** What permits a registration, if anything must. It is presented at the start and counts at the end. */
const admission = {
  setup: Type.Optional(
    Type.String({
      maxLength: 200,
      writeOnly: true,
      description: 'Secret of the setup link: makes the new identity the owner',
    }),
  ),
  invitation: Type.Optional(Type.String({ maxLength: 200, writeOnly: true, description: 'Token of an invitation' })),
  emailProof: Type.Optional(
    Type.String({
      maxLength: 200,
      writeOnly: true,
      description: 'Proof of an address, which becomes that of the identity. Not used with setup or invitation',
    }),
  ),
}

export const RegistrationStart = Type.Object({ handle: Handle, displayName: DisplayName, ...admission })
export type RegistrationStart = Static<typeof RegistrationStart>

export const startRegistration = endpoint(
  'POST /api/auth/register/start',
  { ...page, summary: 'Start a registration: get the options of the first passkey' },
  { body: RegistrationStart },
  { 200: RegistrationStarted },
)

export const checkHandle = endpoint(
  'POST /api/auth/register/available',
  { ...page, summary: 'Check whether a username can be registered now; a registration decides' },
  { body: Type.Object({ handle: Handle }) },
  { 200: Type.Object({ available: Type.Boolean() }) },
)

export const RegistrationFinish = Type.Object({
  flowId: FlowId,
  credential: RegistrationResponse,
  keyWraps: Type.Optional(NewKeyWraps),
  signingKey: Type.Optional(NewSigningKeyPair),
  encryptionKey: Type.Optional(NewKeyPair),
  recoveryAuth: Type.Optional(RecoveryAuth),
  selfRecord: Type.Optional(FirstSelfRecord),
  ...admission,
})
export type RegistrationFinish = Static<typeof RegistrationFinish>

export const RegistrationFinished = Type.Object({
  sessionToken: Type.String(),
  expiresAt: Timestamp,
  user: User,
  identities: Type.Array(Identity),
  logEntry: Type.Optional(PromisedKeyEvent),
})
export type RegistrationFinished = Static<typeof RegistrationFinished>

export const finishRegistration = endpoint(
  'POST /api/auth/register/finish',
  { ...page, summary: 'Finish a registration and sign in' },
  { body: RegistrationFinish },
  { 201: RegistrationFinished },
)

export const RequestStarted = Type.Object({ flowId: FlowId, options: RequestOptions })

const SignedIn = Type.Object({
  sessionToken: Type.String(),
  expiresAt: Timestamp,
  user: User,
  identities: Type.Array(Identity),
  keyWraps: Type.Array(KeyWrap),
})

export const startSignIn = endpoint(
  'POST /api/auth/login/start',
  { ...page, summary: 'Start a sign-in with a passkey' },
  {
    body: Type.Object({
      handle: Type.Optional(Type.String({ maxLength: 200 })),
      requestUri: Type.Optional(RequestUri),
    }),
  },
  { 200: RequestStarted },
)

const NamedUser = Type.Unsafe<UserId>({
  ...UserId,
  description:
    'User that the passkey must belong to, if the page named the passkey. The user handle may then be absent.',
})

export const finishSignIn = endpoint(
  'POST /api/auth/login/finish',
  { ...page, summary: 'Sign in with a passkey' },
  { body: Type.Object({ flowId: FlowId, credential: AuthenticationResponse, userId: Type.Optional(NamedUser) }) },
  { 200: SignedIn },
)

export const startReauthentication = endpoint(
  'POST /api/auth/reauthenticate/start',
  { ...session, recoveredSession: true, summary: 'Start a re-authentication' },
  { body: optionalBody(Type.Object({ requestUri: Type.Optional(RequestUri) })) },
  { 200: RequestStarted },
)

export const finishReauthentication = endpoint(
  'POST /api/auth/reauthenticate/finish',
  { ...session, recoveredSession: true, summary: 'Re-authenticate with a passkey' },
  { body: Type.Object({ flowId: FlowId, credential: AuthenticationResponse }) },
  { 200: Type.Object({ authTime: Timestamp }) },
)

export const Passkey = Type.Object({
  credentialId: CredentialId,
  name: Type.String(),
  createdAt: Timestamp,
  lastUsedAt: Timestamp,
  backedUp: Type.Boolean(),
  transports: Type.Optional(
    Type.Array(Type.String(), { description: 'How the browser reaches it, as reported when it was registered' }),
  ),
  opensKeys: Type.Boolean({ description: 'Whether a wrap of the master key exists for this passkey' }),
  mayResetKeys: Type.Boolean({
    description: 'Whether a recovery link brought it, and it can replace the keys of the account, once',
  }),
  publicKey: Type.String({ description: 'Its public key as SubjectPublicKeyInfo, base64url' }),
})
export type Passkey = Static<typeof Passkey>

export const listPasskeys = endpoint(
  'GET /api/auth/passkeys',
  { ...session, summary: 'List my passkeys' },
  {},
  { 200: Type.Object({ passkeys: Type.Array(Passkey) }) },
)

export const CreationStarted = Type.Object({ flowId: FlowId, options: CreationOptions })

export const startAddPasskey = endpoint(
  'POST /api/auth/passkeys/start',
  { ...session, summary: 'Start adding a passkey' },
  {},
  { 200: CreationStarted },
)

export const finishAddPasskey = endpoint(
  'POST /api/auth/passkeys/finish',
  { ...session, summary: 'Add a passkey, with a wrap of my master key for it' },
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
  { ...session, summary: 'Remove one of my passkeys, but not the last' },
  { params: ByCredential },
  { 204: NoContent },
)

export const checkPasskey = endpoint(
  'POST /api/auth/passkeys/known',
  { ...page, summary: 'Check that a passkey is still registered, so that browsers can remove unknown ones' },
  { body: ByCredential },
  { 200: Type.Object({ known: Type.Boolean() }) },
)

export const startRecovery = endpoint(
  'POST /api/auth/recover/start',
  { ...page, summary: 'Start a recovery on a new device: get the options of a new passkey' },
  { body: Type.Object({ handle: Type.String({ maxLength: 200 }), recoveryAuth: RecoveryAuth }) },
  { 200: CreationStarted },
)

export const finishRecovery = endpoint(
  'POST /api/auth/recover/finish',
  {
    ...page,
    summary: 'Finish a recovery: add the new passkey, consume the recovery code, sign in, and end all other sessions',
  },
  { body: Type.Object({ flowId: FlowId, credential: RegistrationResponse }) },
  { 200: SignedIn },
)

export const passkeyEndpoints = endpoint(
  'GET /.well-known/passkey-endpoints',
  { security: 'none', cors: 'any origin', host: 'auth', summary: 'Get the pages where users add and manage passkeys' },
  {},
  { 200: Type.Object({ enroll: WebUrl, manage: WebUrl }) },
)
