import assert from 'node:assert/strict'
import type {
  ConfigurationChange,
  ConfigurationDocument,
  DeclaredApp,
} from '@countersign/protocol/operations/configuration'
import type { TestWorld } from './world.ts'

type Declared = Partial<DeclaredApp> & { key: string }
type Options = { headers?: Record<string, string>; adopt?: true }

/** Declares single apps in documents of the source `platform`. */
export function declaredAppsOf(world: TestWorld) {
  function send(app: Declared, { headers = world.admin, adopt }: Options = {}) {
    const document = { apiVersion: 'countersign/v1', source: 'platform', apps: [app] }
    const payload = { document, dryRun: false, ...(adopt && { adopt }) }
    return world.api.inject({ method: 'POST', url: '/api/admin/apply', headers, payload })
  }

  async function apply(app: Declared, options?: Options): Promise<ConfigurationChange> {
    const answer = await send(app, options)
    assert.equal(answer.statusCode, 200, answer.body)
    const [change] = answer.json<{ changes: ConfigurationChange[] }>().changes
    assert.ok(change)
    return change
  }

  async function exported(key: string): Promise<DeclaredApp | undefined> {
    const answer = await world.api.inject({ url: '/api/admin/export?source=platform', headers: world.admin })
    return answer.json<ConfigurationDocument>().apps?.find((app) => app.key === key)
  }

  return { send, apply, exported }
}

/** Returns the client ID of an app that was created. */
export function clientIdOf({ fields }: ConfigurationChange): string {
  return String(fields.find(({ path }) => path === 'clientId')?.to)
}

export function pathsOf({ fields }: ConfigurationChange): string[] {
  return fields.map(({ path }) => path)
}
