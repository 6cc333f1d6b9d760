import type { RegistrationMode, SettingKey } from '@countersign/protocol/operations/settings'

const keys: Record<SettingKey, string> = {
  'registration.mode': 'Registration',
  'branding.name': 'Name',
  'legal.terms': 'Terms',
  'legal.privacy': 'Privacy',
  'legal.imprint': 'Imprint',
  'legal.support': 'Support',
}

const modes: Record<RegistrationMode, { label: string; about: string }> = {
  open: { label: 'Everyone', about: 'Registration is open.' },
  invited: { label: 'People with an invitation', about: 'Operators invite them.' },
  closed: { label: 'No one', about: 'Invitations don’t work either.' },
}

/** Holds the messages about the settings of the service, for operators. */
export const adminSettingsMessages = {
  title: 'Settings',
  lead: 'Changes apply within seconds.',
  keys,
  registration: 'Registration',
  who: 'Who can create an account',
  modes,
  brand: 'Name and links',
  brandWhat: 'Pages and e-mails show them.',
  nameHint: (name: string) => `Without one: ${name}`,
  nameProblem: 'Use one line of up to 40 characters.',
  linkHint: 'An https:// address',
  supportHint: 'An https:// or mailto: address',
  linkProblem: 'Enter a URL that begins with https://.',
  supportProblem: 'Enter a URL that begins with https:// or mailto:.',
  /** Stands before the name of the environment variable. */
  fixed: 'Set by the environment variable',
  none: 'None',
  save: 'Save',
  saved: 'Saved.',
  named: (label: string, value: string) => `${label}: ${value}`,
  history: 'History',
  noHistory: 'No changes yet',
  noHistoryWhat: 'Each change is listed here, and can be undone.',
  current: 'Current',
  revision: (number: string) => `Revision ${number}`,
  restoredFrom: (number: string) => `Restored from revision ${number}`,
  defaults: 'Defaults',
  defaultsWhat: 'Before the first change',
  restore: 'Restore',
  restoreTitle: (number: string) => `Restore revision ${number}`,
  restoreDefaults: 'Restore the defaults',
  restoreWhat: 'This changes:',
  restoreNothing: 'Nothing would change.',
  restored: 'Restored.',
}
