import { isObject } from '@countersign/protocol/formats/json'
import type { DescribedChange } from './describe-action.ts'
import type { BusinessWords } from './words.ts'
import { joinValues } from '../text/lists.ts'

type DescribedField = Omit<DescribedChange, 'before'>
type DescribeField = (name: string, value: unknown, words: BusinessWords) => DescribedField[] | undefined

/** Fields that name something which the page shows by its name. */
const ids = ['organizationId', 'memberId', 'invitationId', 'domainId', 'connectionId', 'keyId', 'identityId']

export function isId(name: string): boolean {
  return ids.includes(name)
}

/** Describes a field of an action; returns undefined if it has no words, or a value of another form. */
export const describeField: DescribeField = (name, value, words) => {
  const describe = Object.hasOwn(describers, name) ? describers[name] : undefined
  return describe?.(name, value, words)
}

const describers: Partial<Record<string, DescribeField>> = {
  name: text((words) => words.name),
  slug: text((words) => words.slug),
  logoUrl: text((words) => words.logo),
  logoSha256: text((words) => words.logoSha256),
  role: oneOf(
    (words) => words.role,
    (words) => words.roles,
  ),
  scopes: someOf(
    (words) => words.mayDo,
    (words) => words.scopes,
  ),
  signingAuthority: either(
    (words) => words.hasAuthority,
    ({ concerns }) => [concerns.yes, concerns.no],
  ),
  handle: (name, value, words) =>
    text(({ invitees }) => invitees)(name, typeof value === 'string' ? `@${value}` : value, words),
  email: text((words) => words.invitees),
  ssoRequired: either(
    ({ sections }) => sections.sso,
    ({ sso }) => [sso.require, sso.letWithout],
  ),
  requireSignedActions: either(
    ({ signedActs }) => signedActs.title,
    ({ signedActs }) => [signedActs.require, signedActs.letUnsigned],
  ),
  approvalsNeeded: text(({ approvals }) => approvals.needed),
  encryptionMode: oneOf(
    ({ keys }) => keys.keeper,
    ({ keys }) => keys.modes,
  ),
  url: text(({ keys }) => keys.kms),
  replaces: text(({ concerns }) => concerns.replaces),
  domain: text(({ domains }) => domains.domain),
  domains: list(({ sections }) => sections.domains),
  enabled: either(
    ({ sections }) => sections.sso,
    ({ sso }) => [sso.enable, sso.disable],
  ),
  subjectBy: oneOf(
    ({ directory }) => directory.by,
    ({ directory }) => ({ externalId: 'externalId', email: directory.ways.email.label }),
  ),
  oidc: nested,
  saml: nested,
  groupRules: ruleList,
}

type Label = (words: BusinessWords) => string

function text(label: Label): DescribeField {
  return (name, value, words) => {
    if (value === null) return [{ name, label: label(words), value: words.concerns.none }]
    const isValue = typeof value === 'string' || typeof value === 'number'
    return isValue ? [{ name, label: label(words), value: String(value) }] : undefined
  }
}

function either(label: Label, answers: (words: BusinessWords) => [string, string]): DescribeField {
  return (name, value, words) => {
    const [yes, no] = answers(words)
    return typeof value === 'boolean' ? [{ name, label: label(words), value: value ? yes : no }] : undefined
  }
}

type Names = (words: BusinessWords) => Record<string, string>

function oneOf(label: Label, names: Names): DescribeField {
  const describe = someOf(label, names)
  return (name, value, words) => describe(name, [value], words)
}

/** A value without a name could be spelled like the name of another one. */
function someOf(label: Label, names: Names): DescribeField {
  return (name, value, words) => {
    const known = names(words)
    if (!Array.isArray(value)) return undefined
    const shown = value.map((each) => (isText(each) && Object.hasOwn(known, each) ? known[each] : undefined))
    return shown.every(isText) ? list(label)(name, shown, words) : undefined
  }
}

function list(label: Label): DescribeField {
  return (name, value, words) => {
    if (!Array.isArray(value) || !value.every(isText)) return undefined
    return [{ name, label: label(words), value: value.length > 0 ? joinValues(value) : words.concerns.none }]
  }
}

/** Rules of a provider for groups. */
function ruleList(name: string, value: unknown, words: BusinessWords): DescribedField[] | undefined {
  if (!Array.isArray(value)) return undefined
  const rules = value.map((rule: unknown) => {
    if (!isObject(rule) || Object.keys(rule).length !== 3) return undefined
    const { claim, value: stated, group } = rule
    return isText(claim) && isText(stated) && isText(group) ? words.groupRules.rule(claim, stated, group) : undefined
  })
  return list((all) => all.groupRules.title)(name, rules, words)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Settings of a provider. A secret is signed as a commitment, which shows nothing of it. */
function nested(_: string, value: unknown, words: BusinessWords): DescribedField[] | undefined {
  if (!isObject(value)) return undefined
  const labels: Partial<Record<string, string>> = words.sso.fields
  const parts = Object.entries(value).map(([name, part]) => {
    const label = Object.hasOwn(labels, name) ? labels[name] : undefined
    if (label === undefined) return undefined
    if (isObject(part)) return isSecret(name, part) ? { name, label, value: words.concerns.secret } : undefined
    return typeof part === 'string' ? { name, label, value: part } : undefined
  })
  const described = parts.filter((part) => part !== undefined)
  return described.length === parts.length ? described : undefined
}

/** Fields of providers that are signed as commitments. Of any other field, a commitment would show nothing. */
const secrets = ['clientSecret', 'metadata']

function isSecret(name: string, part: Record<string, unknown>): boolean {
  return secrets.includes(name) && Object.keys(part).length === 1 && isText(part['commitment'])
}
