import { AppChange } from '@countersign/protocol/clients/apps'
import type { Webhook } from '@countersign/protocol/clients/webhooks'
import type { Json } from '@countersign/protocol/formats/signing/canonical-json'
import { limits } from '@countersign/protocol/formats/limits'
import { frame } from '@countersign/protocol/formats/signing/frame'
import { asId, type ClientId } from '@countersign/protocol/ids'
import { DeclaredApp, defaultedAppSettings } from '@countersign/protocol/operations/configuration'
import { requirePermissions } from '#accounts/operators/acting-operator.ts'
import { createApp, updateApp } from '#clients/registration/app.ts'
import { describeApp } from '#clients/registration/view/app-view.ts'
import { activeSecretHashes, replaceSecrets } from '#clients/registration/authentication/secret.ts'
import type { ListedApp, RegisteredApp } from '#clients/registration/directory.ts'
import { findOperatorApp } from '#clients/registration/operator-app.ts'
import { defaultSettings, settingsOf } from '#clients/registration/settings.ts'
import { defineErrors } from '#platform/api-error.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { afterCommit } from '#platform/database/database.ts'
import { parse } from '#platform/schema.ts'
import { type AppParts, declaresParts, desiredParts, readParts, replaceParts, valuesOfParts } from './parts.ts'
import { declarationOfResource } from './resources.ts'
import { changeWebhook, compareWebhook } from './webhook.ts'
import {
  actionOn,
  type Applying,
  type Change,
  claim,
  definedValues,
  differences,
  type Field,
  fieldsOfNew,
  naming,
  requireDistinct,
  type Values,
} from '../plan.ts'
import * as store from '../store.ts'

const errors = defineErrors({
  invalid_request: [400, 'A new app needs name and redirectUris.'],
  app_not_found: [404, 'No app of the operator has this client ID.'],
})

/** Tells client IDs, by which a document can name an app that exists. Those of built-in apps have another form. */
export function isGeneratedClientId(text: string): boolean {
  return /^app_[0-9a-f]{32}$/.test(text)
}

/** Settings that a document can give, by name. */
const names = ['name', 'redirectUris', ...Object.keys(defaultedAppSettings)]

const { access, groupsClaim, ...alike } = defaultSettings
/** Default of each setting, as the interface has it. */
const defaults: Record<string, Json> = {
  ...alike,
  access: { mode: access.mode, groups: [], organizations: [], contact: access.contact },
  groupsClaim: { include: groupsClaim },
}

/** Returns the client ID of a declared app: its key if that is one, otherwise a digest of key, source and issuer. */
function clientIdOf({ authUrl }: Pick<Config, 'authUrl'>, source: string, key: string): ClientId {
  if (isGeneratedClientId(key)) return asId<ClientId>(key)
  const digest = sha256(frame('countersign/client-id/v1', { issuer: authUrl.origin, key, source }))
  return asId<ClientId>(`app_${digest.toString('hex').slice(0, 32)}`)
}

/** Registers and changes the declared apps. Throws as the functions of apps, and `managed_elsewhere`. */
export async function applyApps(applying: Applying, declared: DeclaredApp[]): Promise<Change[]> {
  const { tx, kernel, operator, source } = applying
  requirePermissions(operator, ['apps.manage'])
  requireDistinct(declared.map(({ key }) => key))
  requireDistinct(declared.map(({ key }) => clientIdOf(kernel.config, source, key)))
  const changes: Change[] = []
  for (const app of declared) {
    const object = `apps/${app.key}`
    const clientId = clientIdOf(kernel.config, source, app.key)
    const change = await naming(object, async () => {
      const found = await findOperatorApp(tx, clientId)
      return found ? changeApp(applying, app, found) : addApp(applying, app, clientId)
    })
    changes.push({ object, ...change })
  }
  return changes
}

const noParts: AppParts = { roles: [], roleAssignments: [], claims: [], resources: [] }

type Done = Omit<Change, 'object'>

async function addApp(applying: Applying, declared: DeclaredApp, clientId: ClientId): Promise<Done> {
  const { kernel, tx, operator: manager, apps, now } = applying
  const { key, name, redirectUris, public: isPublic = false, clientSecret } = declared
  if (isGeneratedClientId(key)) throw errors.app_not_found()
  if (name === undefined || redirectUris === undefined) throw errors.invalid_request()
  if (isPublic && clientSecret !== undefined) throw secretOfPublicError()
  const secretSha256 = clientSecret === undefined ? undefined : sha256(clientSecret)
  const settings = { ...settingsOf(changeOf(declared)), name, redirectUris }
  const registering = { manager, isPublic, declared: { clientId, secretSha256 } }
  await createApp({ ...kernel, db: tx }, registering, settings, now)
  const parts = desiredParts(declared, noParts)
  const changed = new Set(Object.keys(parts))
  await replaceParts(applying, clientId, { before: noParts, declared: parts, changed })
  const webhook = await compareWebhook(applying, clientId, declared.webhook)
  await changeWebhook(applying, clientId, declared.webhook, webhook)
  await claim(applying, { kind: 'app', key, clientId })
  afterCommit(tx, () => apps.forget(clientId))
  const values = { clientId, ...(isPublic && { public: true }), ...flat(desired(declared)), ...valuesOfParts(parts) }
  const secrets = clientSecret === undefined ? [] : [secretField]
  return { action: 'create', fields: [...fieldsOfNew(values), ...webhook, ...secrets] }
}

function secretOfPublicError() {
  return errors.invalid_request({ sentence: 'A public app has no client secret.' })
}

/** A secret that changes. Its values are nowhere. */
const secretField: Field = { path: 'clientSecret', from: null, to: null }

async function changeApp(applying: Applying, declared: DeclaredApp, found: RegisteredApp): Promise<Done> {
  const { kernel, tx, operator: manager, source, apps, now } = applying
  const { key, clientSecret } = declared
  const { clientId, isPublic } = found
  if ((declared.public ?? isPublic) !== isPublic)
    throw errors.invalid_request({ sentence: 'public never changes. Declare another app.' })
  if (isPublic && clientSecret !== undefined) throw secretOfPublicError()
  const managed = await store.findByApp(tx, clientId)
  const wasPruned = managed?.source === source && managed.deleteAt !== null
  const restored: DeclaredApp =
    wasPruned && declared.status === undefined ? { ...declared, status: 'active' } : declared
  const settings = differences(valuesOf(found), flat(desired(restored)))
  const before = declaresParts(declared) ? await readParts(tx, found) : noParts
  const parts = desiredParts(declared, before)
  const changed = [...settings, ...differences(valuesOfParts(before), valuesOfParts(parts))]
  const secretSha256 = clientSecret === undefined ? undefined : sha256(clientSecret)
  const isNewSecret = secretSha256 && !activeSecretHashes(found, now).some((each) => equalBytes(each, secretSha256))
  const webhook = await compareWebhook(applying, clientId, declared.webhook)
  const fields = [...changed, ...webhook, ...(isNewSecret ? [secretField] : [])]
  const action = wasPruned ? 'update' : actionOn(applying, managed?.source, fields)
  if (action === 'none') return { action, fields }

  const paths = new Set(changed.map(({ path }) => path.split('.')[0] ?? path))
  await replaceParts(applying, clientId, { before, declared: parts, changed: paths })
  if (settings.length > 0) {
    const change = settingsOf(changeOf(restored, (name) => paths.has(name)))
    const { isForAll } = await updateApp({ ...kernel, db: tx }, { manager, clientId }, change, now)
    afterCommit(tx, () => (isForAll ? apps.forgetEverywhere(clientId) : apps.forget(clientId)))
  }
  await changeWebhook(applying, clientId, declared.webhook, webhook)
  if (isNewSecret) {
    await replaceSecrets(tx, { manager, clientId }, secretSha256, now)
    afterCommit(tx, () => apps.forgetEverywhere(clientId))
  }
  await claim(applying, { kind: 'app', key: managed?.source === source ? managed.key : key, clientId })
  return { action, fields }
}

/** Returns what a document says about an app, with defaults in place of null. */
function desired(declared: DeclaredApp): Values {
  const given: Record<string, Json | undefined> = {
    ...declared,
    color: declared.color?.toLowerCase() ?? declared.color,
  }
  const values = names.map((name): [string, Json | undefined] => [
    name,
    given[name] === null ? (defaults[name] ?? null) : given[name],
  ])
  return definedValues(Object.fromEntries(values))
}

/** Returns declared settings as a request of the interface would send them. */
function changeOf(declared: DeclaredApp, isChosen: (name: string) => boolean = () => true): AppChange {
  const chosen = Object.entries(desired(declared)).filter(([name]) => isChosen(name))
  return parse(AppChange, Object.fromEntries(chosen))
}

/** Returns the values of an app by path. */
function valuesOf(app: ListedApp): Values {
  return flat({ ...describeApp(app) })
}

/** Writes the members of objects as values of their own: `access.mode`. */
function flat(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([path, value]): [string, Json][] =>
      isObject(value) ? Object.entries(value).map(([member, each]) => [`${path}.${member}`, each]) : [[path, value]],
    ),
  )
}

function isObject(value: Json): value is Exclude<Json, readonly Json[] | string | number | boolean | null> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns an app as a document declares it: what differs from the defaults, without secrets. */
export function declarationOf(
  key: string,
  { app, parts, webhook }: { app: ListedApp; parts: AppParts; webhook: Pick<Webhook, 'url'> | null },
  isOwnPicture: (url: string) => boolean,
): DeclaredApp {
  const { iconUrl, ...settings } = describeApp(app)
  const shown: Values = { ...settings, iconUrl: iconUrl !== null && isOwnPicture(iconUrl) ? null : iconUrl }
  const given = Object.keys(defaultedAppSettings).filter(
    (name) => differences(flat({ [name]: defaults[name] ?? null }), flat({ [name]: shown[name] ?? null })).length > 0,
  )
  const { name, redirectUris, public: isPublic } = settings
  const shownParts = { ...parts, resources: parts.resources.map(declarationOfResource) }
  return parse(DeclaredApp, {
    ...{ key, name, redirectUris, ...(isPublic && { public: true }) },
    ...Object.fromEntries(given.map((each) => [each, shown[each]])),
    ...Object.fromEntries(Object.entries(shownParts).filter(([, list]) => list.length > 0)),
    ...(webhook && { webhook: { url: webhook.url } }),
  })
}

/**
 * Disables the apps of the source that the document does not name. They are deleted later, unless a document names them
 * again. Throws as `updateApp`.
 */
export async function pruneApps(applying: Applying, declared: DeclaredApp[]): Promise<Change[]> {
  const { kernel, tx, operator: manager, source, apps, now } = applying
  const named = new Set(declared.map(({ key }) => clientIdOf(kernel.config, source, key)))
  const changes: Change[] = []
  for (const { key, clientId, deleteAt } of await store.listObjects(tx, source, 'app')) {
    if (clientId === null || named.has(clientId) || deleteAt !== null) continue
    const object = `apps/${key}`
    const found = await findOperatorApp(tx, clientId)
    const change = { status: 'disabled' } as const
    await naming(object, () => updateApp({ ...kernel, db: tx }, { manager, clientId }, change, now))
    afterCommit(tx, () => apps.forgetEverywhere(clientId))
    await store.setDeletion(tx, { source, kind: 'app', key }, addSeconds(now, limits.prunedObjectSeconds))
    const fields = [{ path: 'status', from: found?.status ?? null, to: 'disabled' }]
    changes.push({ object, action: 'delete', fields })
  }
  return changes
}
