import { defineErrors } from '#platform/api-error.ts'

export { releaseIdentities, setManager } from './store.ts'

const errors = defineErrors({
  managed_elsewhere: [
    409,
    'A directory manages the names and the address of this identity by SCIM. Change them there.',
  ],
})

/** Throws `managed_elsewhere` if a source alone changes the names and the address of an identity. */
export function requireUnmanaged({ managedBy }: { managedBy: string | null }): void {
  if (managedBy !== null) throw errors.managed_elsewhere({ fields: { managedBy } })
}
