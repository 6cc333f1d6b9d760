import { Type } from 'typebox'
import { orNoBody } from '../endpoint.ts'

/**
 * A signature by the signing key of the identity that acts: last in a body, and no part of what it signs. Without one,
 * nothing is done: the refusal says what there is to sign.
 */
export const SignedAction = Type.Object(
  {
    signature: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Without it: what is to be signed?' }),
    ),
  },
  { description: 'Over {"version":1,"action":…,"details":{…}}: the parameters of the path, then the rest of the body' },
)
/** What a body has beside its fields that an organization may want signed. */
export const signed = { signedAction: Type.Optional(SignedAction) }

/** The body of an act that needs none but for its signature. */
export const SignatureAlone = orNoBody(Type.Object(signed))
