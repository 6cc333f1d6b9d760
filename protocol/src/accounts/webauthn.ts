import { Type, type Static } from 'typebox'
import { Base64Url, CredentialId } from '../values.ts'

/**
 * The JSON forms of WebAuthn Level 3 (§5.1.8–10, §5.4, §5.5) as far as both sides use them; what more a browser sends
 * stays.
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
