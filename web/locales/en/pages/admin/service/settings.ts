import type { RegistrationMode, SettingKey } from '@countersign/protocol/operations/settings'

const keys: Record<SettingKey, string> = {
  'registration.mode': 'Registration',
  'registration.domains': 'E-mail domains',
  'branding.name': 'Name',
  'branding.logo': 'Logo',
  'branding.accent': 'Color',
  'legal.terms': 'Terms',
  'legal.privacy': 'Privacy',
  'legal.imprint': 'Imprint',
  'legal.support': 'Support',
}

const modes: Record<RegistrationMode, { label: string; about: string }> = {
  open: { label: 'Everyone', about: 'Registration is open.' },
  domains: {
    label: 'People with an address of certain domains',
    about: 'A code proves it. Others need an invitation.',
  },
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
  domainsHint: 'One on each line: example.com, or *.example.com for those below it.',
  domainProblem: (text: string) => `${text} is not a domain.`,
  domainsMissing: 'Enter a domain.',
  domainsTooMany: 'Enter at most 100 domains.',
  brand: 'Brand',
  brandWhat: 'Pages and e-mails show it.',
  logoWhat: 'A square at the top of every page. Each change is saved at once.',
  /** Stands for the logo in the history. */
  picture: 'a picture',
  nameHint: (name: string) => `Without one: ${name}`,
  nameProblem: 'Use one line of up to 40 characters.',
  colorHint: 'Its shade is adapted until text is readable.',
  colorProblem: 'Enter a color such as #2841ae.',
  chooseColor: 'Choose a color',
  preview: { title: 'Preview', light: 'Light', dark: 'Dark', act: 'Continue', link: 'Learn more' },
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
