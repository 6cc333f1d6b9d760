import { defineLie, rewriteRequest } from '../../lie.ts'

/** Gives the app's server a key of the operator, encrypted to the server, in place of the user's. */
export const appKeyPlanted = defineLie<{ appKeyJwe: string }>({
  requests: ({ appKeyJwe }) => rewriteRequest('POST /api/oauth/fedcm/finalize', (body) => ({ ...body, appKeyJwe })),
})
