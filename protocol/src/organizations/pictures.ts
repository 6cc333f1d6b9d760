import { type Static, Type } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { pictureBody } from '../pictures.ts'
import { Timestamp } from '../values.ts'
import { ActingAs, ByOrganizationId } from './organizations.ts'

/** Uploaded picture that an organization can use as its logo until `expiresAt`. */
export const OfferedPicture = Type.Object({
  url: Type.String({ description: 'For logoUrl' }),
  sha256: Type.String({ description: 'Of the picture in 512 pixels, in hexadecimal: for logoSha256' }),
  expiresAt: Timestamp,
})
export type OfferedPicture = Static<typeof OfferedPicture>

export const uploadOrganizationPicture = endpoint(
  'POST /api/organizations/:organizationId/pictures',
  {
    security: 'session',
    cors: 'first party',
    host: 'business',
    ssoSession: 'its organization',
    ...pictureBody,
    summary: 'Upload a picture, PNG, JPEG or WebP of at most 2 MiB, which can then be set as the logo',
  },
  { params: ByOrganizationId, querystring: ActingAs },
  { 201: Type.Object({ picture: OfferedPicture }) },
)
