import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { Uuid } from './values.ts'

/** Media types of pictures that the service accepts. */
export const pictureMediaTypes = ['image/png', 'image/jpeg', 'image/webp'] as const

/** Media type of an uploaded picture in the document; its first bytes decide. */
export const pictureBody = { consumes: 'application/octet-stream' } as const

const PictureFile = Type.Unsafe<unknown>({ type: 'string', format: 'binary', contentMediaType: 'image/webp' })

const anyone = { security: 'none', cors: 'any origin' } as const

export const getPicture = endpoint(
  'GET /pictures/:pictureId',
  {
    ...anyone,
    summary: 'Get a picture of an identity, an app, an organization or the service: a WebP square of 256 pixels',
  },
  { params: Type.Object({ pictureId: Uuid }) },
  { 200: PictureFile },
)

export const getPictureOfSize = endpoint(
  'GET /pictures/:pictureId/:size',
  { ...anyone, summary: 'Get a picture in another size: 64, 256 or 512 pixels' },
  { params: Type.Object({ pictureId: Uuid, size: Type.String({ pattern: '^(64|256|512)$' }) }) },
  { 200: PictureFile },
)
