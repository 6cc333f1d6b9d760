import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'

const Text = Type.String({ maxLength: 16_384 })

/**
 * Authorization request, sent by its app (RFC 9126 §2.1). Parameters that `/signin` rejects are listed, to be rejected
 * too.
 */
export const PushedRequest = Type.Object(
  {
    client_id: Type.Optional(Text),
    client_secret: Type.Optional(Text),
    clientId: Type.Optional(Text),
    clientSecret: Type.Optional(Text),
    redirect_uri: Type.Optional(Text),
    response_type: Type.Optional(Text),
    response_mode: Type.Optional(Text),
    scope: Type.Optional(Text),
    state: Type.Optional(Text),
    nonce: Type.Optional(Text),
    code_challenge: Type.Optional(Text),
    code_challenge_method: Type.Optional(Text),
    prompt: Type.Optional(Text),
    max_age: Type.Optional(Text),
    login_hint: Type.Optional(Text),
    identity_id: Type.Optional(Text),
    id_token_hint: Type.Optional(Text),
    ui_locales: Type.Optional(Text),
    request: Type.Optional(Text),
    request_uri: Type.Optional(Text),
    registration: Type.Optional(Text),
    organization_id: Type.Optional(Text),
    fedcm_continue: Type.Optional(Text),
    app_key_jwk: Type.Optional(Text),
    resource: Type.Optional(Text),
  },
  {
    examples: [
      {
        response_type: 'code',
        redirect_uri: 'https://app.example/callback',
        scope: 'openid profile',
        state: '…',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      },
    ],
  },
)
export type PushedRequest = Static<typeof PushedRequest>

export const PushedRequestAnswer = Type.Object({ request_uri: Type.String(), expires_in: Type.Integer() })
export type PushedRequestAnswer = Static<typeof PushedRequestAnswer>

export const pushRequest = endpoint(
  'POST /api/oauth/par',
  { security: 'client', cors: 'no origin', summary: 'Push an authorization request (RFC 9126)' },
  { body: PushedRequest },
  { 201: PushedRequestAnswer },
)
