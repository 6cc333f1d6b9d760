import { defineLie } from '../../lie.ts'

/** Registers a further redirect URI for an app. */
export const redirectUriAdded = defineLie<{ clientId: string; redirectUris: string[] }>({
  rows: ({ administer }, { clientId, redirectUris }) =>
    administer('PATCH', `/api/admin/apps/${clientId}`, { redirectUris }),
})
