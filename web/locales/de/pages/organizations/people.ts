import type { peopleMessages as english } from '../../../en/pages/organizations/people.ts'

/** Holds the messages about members and invitations of an organization. In German. */
export const peopleMessages: typeof english = {
  lead: (members, invitations) =>
    [
      members === 1 ? '1 Mitglied' : `${members} Mitglieder`,
      invitations === undefined ? '' : invitations === 1 ? '1 offene Einladung' : `${invitations} offene Einladungen`,
    ]
      .filter(Boolean)
      .join(', '),
  export: 'CSV exportieren',
  tabs: { members: 'Mitglieder', invitations: 'Einladungen' },
  search: 'Name oder E-Mail suchen',
  searchNames: 'Name oder Benutzername suchen',
  everyRole: 'Alle Rollen',
  columns: { name: 'Name', role: 'Rolle', signs: 'Unterschrift', joined: 'Beigetreten', actions: 'Aktionen' },
  you: 'Du',
  signs: 'Berechtigt',
  signsNot: 'Nein',
  more: (name) => `Mehr zu ${name}`,
  shown: (shown, total) => `${shown} von ${total}`,
  showMore: 'Mehr anzeigen',
  noMatch: 'Kein Mitglied gefunden',
  noMatchWhat: 'Versucht es mit einem anderen Namen oder einer anderen Rolle.',
  clear: 'Filter zurücksetzen',
  csv: {
    name: 'Name',
    handle: 'Benutzername',
    email: 'E-Mail',
    role: 'Rolle',
    permissions: 'Berechtigungen',
    joined: 'Beigetreten',
  },
  invitee: 'Eingeladen',
  by: 'Von',
  expires: 'Gültig bis',
  mail: 'E-Mail',
  mailed: (when) => `Gesendet: ${when}`,
  notMailed: 'Nicht gesendet',
  link: 'Nur Link',
  mailAgain: 'Noch einmal senden',
  mailedAgain: (email) => `Noch einmal an ${email} gesendet. Der vorherige Link gilt nicht mehr.`,
  revoked: 'Einladung widerrufen.',
  noInvitations: 'Keine offenen Einladungen',
  noInvitationsWhat:
    'Einladungen bleiben hier, bis sie angenommen oder abgelehnt werden oder nach sieben Tagen ablaufen.',
  invite: 'Einladen',
  inviteesHint:
    'Mehrere auf einmal: Trennt sie durch Kommas oder Zeilenumbrüche. Wer Änderungen unterschreibt, unterschreibt ' +
    'jede Einladung.',
  tooMany: (most) => `Ladet höchstens ${most} auf einmal ein.`,
  roleMay: (role) => `Die Rolle ${role} darf`,
  sent: (name) => `${name} ist eingeladen`,
  sentSeveral: (count) => `${count} Einladungen erstellt`,
  mailedTo: (email) =>
    `Wir haben einen Link an ${email} gesendet. Er gilt sieben Tage und bestätigt die Adresse. Ihr müsst nichts ` +
    'senden.',
  mailedNone:
    'Es wurde keine E-Mail gesendet. Kopiert den Link jetzt und sendet ihn: Er wird nicht noch einmal angezeigt.',
  linkForNamed: (handle) =>
    `@${handle} findet die Einladung im eigenen Konto. Ihr könnt auch diesen Link senden: Er wird nicht noch einmal ` +
    'angezeigt.',
  ownLink: 'Oder den Link selbst senden',
  ownLinkWhat:
    'Nur die eingeladene Person kann ihn verwenden. Anders als der Link in der E-Mail bestätigt er die Adresse ' +
    'nicht. Er wird nicht noch einmal angezeigt.',
  failed: (names, reason) => `Nicht eingeladen: ${names}. ${reason}`,
  inviteMore: 'Weitere einladen',
  invitationLink: 'Einladungslink',

  own: {
    title: 'Einladungen für dich',
    as: (role, organization) => `${organization} beitreten (Rolle: ${role})`,
    from: (inviter, until) => `Von ${inviter}, gültig bis ${until}`,
    join: 'Beitreten',
    decline: 'Ablehnen',
    declined: (organization) => `Du hast die Einladung zu ${organization} abgelehnt.`,
    needsLink: (email) => `Öffne zum Beitreten den Link, den wir an ${email} gesendet haben.`,
  },
  list: {
    lead: 'Firmen und Teams, zu denen du gehörst.',
    yourRole: (role) => `Deine Rolle: ${role}`,
  },
}
