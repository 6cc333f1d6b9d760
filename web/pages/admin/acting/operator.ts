import type { Api, RequestOf, ResponseOf } from '@countersign/protocol/api'
import type { Permission } from '@countersign/protocol/formats/registries/permissions'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { callAs, openAs } from '../../../lib/api/call.ts'
import { type Importing, uploadAs } from '../../../lib/api/upload.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'

export type OwnOperator = ResponseOf<'GET /api/account/operators'>['operators'][number]

/** The identity as which the user administers the service. */
export const ActingOperator = createContext<OwnOperator | undefined>(undefined)

/** Returns the operator, and what calls the admin API as this identity. */
export function useOperator() {
  const operator = useContext(ActingOperator)
  if (!operator) throw new Error('Drawn outside of the operator pages')
  const { identityId, permissions } = operator
  return {
    operator,
    may: (permission: Permission) => permissions.includes(permission),
    /** Calls an endpoint. If it requires recent authentication, the user confirms with a passkey first. */
    ask: <Name extends keyof Api>(name: Name, given: RequestOf<Name>): Promise<ResponseOf<Name>> =>
      withRecentAuthentication(() => callAs(identityId, name, given)),
    /** Calls an endpoint whose response is a file. */
    askForFile: <Name extends keyof Api>(name: Name, given: RequestOf<Name>): Promise<Response> =>
      withRecentAuthentication(() => openAs(identityId, name, given)),
    /** Calls an endpoint whose body is a file. */
    askWithFile: <Name extends Importing>(name: Name, given: RequestOf<Name>, file: Blob): Promise<ResponseOf<Name>> =>
      withRecentAuthentication(() => uploadAs(identityId, name, given, file)),
  }
}
