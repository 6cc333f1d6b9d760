import { useEffect, useState } from 'preact/hooks'
import { reportUnexpected } from '../../../lib/api/error-message.ts'
import { useOperator } from '../acting/operator.ts'

/** Reads the keys of all groups, if the operator may read them. */
export function useGroupKeys(): string[] {
  const { ask, may } = useOperator()
  const [keys, setKeys] = useState<string[]>([])
  const read = async () => {
    const found: string[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await ask('GET /api/admin/groups', { querystring: cursor === undefined ? {} : { cursor } })
      found.push(...page.groups.map(({ key }) => key))
      cursor = page.nextCursor
    }
    setKeys(found)
  }
  useEffect(() => {
    if (may('groups.read')) void read().catch(reportUnexpected)
  }, [])
  return keys
}
