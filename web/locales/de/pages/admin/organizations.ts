import type { adminOrganizationsMessages as english } from '../../../en/pages/admin/organizations.ts'

/** Holds the messages about organizations, for operators. In German. */
export const adminOrganizationsMessages: typeof english = {
  title: 'Organisationen',
  lead: 'Ihre Inhaber verwalten sie. Du siehst, dass es sie gibt, nicht, was sie tun.',
  none: 'Noch keine Organisationen',
  noneWhat: 'Personen erstellen sie auf den Seiten für Organisationen.',
  name: 'Organisation',
  status: 'Status',
  statuses: { active: 'Aktiv', suspended: 'Gesperrt' },
  members: 'Mitglieder',
  owners: 'Inhaber',
  created: 'Erstellt',
  menuOf: (organization) => `Aktionen für ${organization}`,
  suspend: 'Sperren',
  suspendTitle: (organization) => `${organization} sperren`,
  suspendWhat: 'Mitglieder und Tokens haben keinen Zugriff, bis du sie wieder aktivierst. Gelöscht wird nichts.',
  suspended: (organization) => `${organization} ist gesperrt.`,
  activate: 'Aktivieren',
  activateTitle: (organization) => `${organization} aktivieren`,
  activateWhat: 'Die Mitglieder haben wieder Zugriff.',
  activated: (organization) => `${organization} ist aktiv.`,
}
