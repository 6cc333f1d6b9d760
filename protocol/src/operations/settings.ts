import { Type, type Static, type TSchema } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import type { settingRules } from '../formats/registries/settings.ts'
import { registrationDomainsMax } from '../formats/registration/domain-list.ts'
import { AuditOperator } from './audit.ts'
import { pictureBody } from '../pictures.ts'
import { IfMatch, Timestamp, Uuid, WebUrl, nullable } from '../values.ts'

const registrationModes = ['open', 'domains', 'invited', 'closed'] as const

/**
 * Who may create an account: everyone; those with an address of a listed domain or an invitation; those with an
 * invitation; or no one.
 */
export type RegistrationMode = (typeof registrationModes)[number]

/** Schemas of the settings that operators can change while the service runs. */
export const settingSchemas = {
  'registration.mode': Type.Enum(registrationModes, { type: 'string' }),
  'registration.domains': Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
    maxItems: registrationDomainsMax,
    description: 'Domains of e-mail addresses that can register, such as example.org, or *.example.org for those below',
  }),
  'branding.name': Type.String({ minLength: 1, maxLength: 40 }),
  'branding.logo': Uuid,
  'branding.accent': Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'Color of buttons and links, #rrggbb' }),
  'legal.terms': WebUrl,
  'legal.privacy': WebUrl,
  'legal.imprint': WebUrl,
  'legal.support': WebUrl,
  'audit.retentionDays': Type.Integer({
    minimum: limits.retentionDaysMin,
    maximum: limits.retentionDaysMax,
    description: 'Days for which events of the audit log are kept',
  }),
} as const satisfies Record<keyof typeof settingRules, TSchema>

export type SettingKey = keyof typeof settingSchemas

/** Values of some settings, as the environment and the database have them. */
export const SomeSettings = Type.Partial(Type.Object(settingSchemas))
export type SomeSettings = Static<typeof SomeSettings>

/** A setting that has no default. */
type Unset = 'branding.logo' | 'branding.accent' | `legal.${string}`

/** Values of all settings. A logo, color or page of the operator may be missing. That of the logo is a picture ID. */
export type SettingValues = {
  [Key in SettingKey]: Static<(typeof settingSchemas)[Key]> | (Key extends Unset ? null : never)
}

export function isSettingKey(text: string): text is SettingKey {
  return Object.hasOwn(settingSchemas, text)
}

/** Keys of all settings, in the order of the reference. */
export const settingKeys = Object.keys(settingSchemas).filter(isSettingKey)

/** Value of a setting that is stored. */
const StoredValue = Type.Union([Type.String(), Type.Integer(), Type.Array(Type.String())])

/** Value of a setting in a response: a text, a number, a list of texts, or null for one that has none. */
const SettingValue = Type.Union([...StoredValue.anyOf, Type.Null()])
export type SettingValue = Static<typeof SettingValue>

/** A setting as it applies now. One that the environment fixes is not editable. The value of the logo is its URL. */
export const Setting = Type.Object({
  value: SettingValue,
  default: SettingValue,
  source: Type.Enum(['default', 'database', 'environment'], { type: 'string' }),
  editable: Type.Boolean(),
})
export type Setting = Static<typeof Setting>

/** All settings by key, and the revision that `If-Match` names. */
export const Settings = Type.Object({ revision: Type.Integer(), settings: Type.Record(Type.String(), Setting) })
export type Settings = Static<typeof Settings>

/** A change of settings: the keys that it changed, and the values by key that the database has since then. */
export const SettingRevision = Type.Object({
  revision: Type.Integer(),
  at: Timestamp,
  changed: Type.Array(Type.String()),
  values: Type.Record(Type.String(), StoredValue),
  restoredFrom: nullable(Type.Integer()),
  operator: AuditOperator,
})
export type SettingRevision = Static<typeof SettingRevision>

const reading = { security: 'admin', cors: 'auth host', permission: 'settings.read' } as const
const managing = { ...reading, permission: 'settings.manage', recentAuthentication: true } as const

const RevisionNumber = Type.String({ pattern: '^(0|[1-9][0-9]{0,8})$' })

/** Changes by key. Null restores the default. */
export const SettingChanges = Type.Partial(
  Type.Object({
    'registration.mode': nullable(settingSchemas['registration.mode']),
    'registration.domains': nullable(settingSchemas['registration.domains']),
    'branding.name': nullable(settingSchemas['branding.name']),
    'branding.logo': Type.Null({ description: 'Removes the logo. PUT /api/admin/settings/logo sets it' }),
    'branding.accent': nullable(settingSchemas['branding.accent']),
    'legal.terms': nullable(settingSchemas['legal.terms']),
    'legal.privacy': nullable(settingSchemas['legal.privacy']),
    'legal.imprint': nullable(settingSchemas['legal.imprint']),
    'legal.support': nullable(settingSchemas['legal.support']),
    'audit.retentionDays': nullable(settingSchemas['audit.retentionDays']),
  }),
  { additionalProperties: false, minProperties: 1 },
)
export type SettingChanges = Static<typeof SettingChanges>

export const getSettings = endpoint(
  'GET /api/admin/settings',
  { ...reading, summary: 'Get the settings that operators can change' },
  {},
  { 200: Settings },
)

export const updateSettings = endpoint(
  'PATCH /api/admin/settings',
  { ...managing, summary: 'Change settings; null restores the default' },
  {
    headers: IfMatch,
    body: Type.Object({ settings: SettingChanges }, { additionalProperties: false }),
  },
  { 200: Settings },
)

export const setLogo = endpoint(
  'PUT /api/admin/settings/logo',
  { ...managing, ...pictureBody, summary: 'Upload the logo of the service: PNG, JPEG or WebP of at most 2 MiB' },
  { headers: IfMatch },
  { 200: Settings },
)

export const listSettingRevisions = endpoint(
  'GET /api/admin/settings/revisions',
  { ...reading, summary: 'List the last 1,000 changes of the settings, newest first' },
  {
    querystring: Type.Object({
      cursor: Type.Optional(RevisionNumber),
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 50' })),
    }),
  },
  { 200: Type.Object({ revisions: Type.Array(SettingRevision), nextCursor: nullable(Type.String()) }) },
)

export const restoreSettingRevision = endpoint(
  'POST /api/admin/settings/revisions/:revision/restore',
  { ...managing, summary: 'Restore the settings of a revision, as a new one; revision 0 has all defaults' },
  { params: Type.Object({ revision: RevisionNumber }), headers: IfMatch },
  { 200: Settings },
)
