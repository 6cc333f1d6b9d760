import type { AppRoles } from '@countersign/protocol/clients/roles'
import { ApiError } from '../../../lib/api/call.ts'
import { useOperator } from '../acting/operator.ts'
import type { RoleChange } from './role-view.ts'

/** The roles of an app as the page shows them. */
export type Replacing = { clientId: string; of: AppRoles; onChanged: (roles: AppRoles) => void }

/**
 * Returns what replaces the roles of an app, unless another operator has changed them since they were read. Then it
 * shows the current ones, passes them to `onStale`, saves nothing, and throws.
 */
export function useReplacement({ clientId, of: before, onChanged }: Replacing, onStale: (roles: AppRoles) => void) {
  const { ask } = useOperator()
  const params = { clientId }
  return async (body: RoleChange): Promise<void> => {
    const headers = { 'if-match': `"${before.version}"` }
    try {
      onChanged(await ask('PUT /api/admin/apps/:clientId/roles', { params, headers, body }))
    } catch (error) {
      if (error instanceof ApiError && error.code === 'version_mismatch') {
        const current = await ask('GET /api/admin/apps/:clientId/roles', { params })
        onChanged(current)
        onStale(current)
      }
      throw error
    }
  }
}
