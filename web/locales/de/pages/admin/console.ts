import type { adminMessages as english } from '../../../en/pages/admin/console.ts'

/** Holds the messages of the frame of the operator pages. In German. */
export const adminMessages: typeof english = {
  title: 'Betrieb',
  retry: 'Erneut versuchen',
  sections: {
    people: 'Personen',
    invitations: 'Einladungen',
    groups: 'Gruppen',
    apps: 'Apps',
    audit: 'Audit-Log',
    operators: 'Betreiber',
    settings: 'Einstellungen',
  },
  roles: { owner: 'Inhaber', people: 'Personen', apps: 'Apps', auditor: 'Prüfung' },
  actAs: 'Handeln als',
  actingAs: (handle, role) => `Du handelst als ${handle}. Rolle: ${role}`,
  none: {
    title: 'Du hast keine Betreiberrolle',
    about: 'Betreiber verwalten diesen Dienst. Wenn du dazugehören sollst, bitte einen Inhaber, dich hinzuzufügen.',
    back: 'Zurück zu deinem Konto',
  },
  denied: {
    title: 'Kein Zugriff',
    lacking: 'Dir fehlt die Berechtigung',
    ask: 'Bitte einen Inhaber um eine Rolle mit dieser Berechtigung.',
  },
  more: 'Mehr anzeigen',
  identity: 'Benutzername oder ID der Identität',
  actions: 'Aktionen',
  commandLine: 'Auf der Kommandozeile',
  refused: {
    group_exists: 'Eine andere Gruppe hat diesen Schlüssel.',
    group_not_found: 'Diese Gruppe gibt es nicht.',
    too_many_groups: 'Mehr Gruppen sind nicht möglich. Lösche zuerst eine.',
    invitation_void: 'Diese Einladung ist ungültig. Widerrufe sie und erstelle eine neue.',
    invitation_not_mailed: 'Diese Einladung wurde schon verwendet oder ist ein Link.',
    setting_fixed_by_environment: 'Eine Umgebungsvariable legt diese Einstellung fest. Lade die Seite neu.',
    setting_revision_not_found: 'Diese Revision gibt es nicht mehr.',
    version_mismatch:
      'Das hat sich inzwischen geändert. Nichts wurde gespeichert. Prüfe die Angaben und versuche es noch einmal.',
    operator_exists: 'Diese Identität hat schon eine Betreiberrolle.',
    operator_not_found: 'Dieser Betreiber wurde schon entfernt.',
    too_many_operators: 'Mehr Betreiber sind nicht möglich. Entferne zuerst einen.',
    too_many_tokens: 'Mehr Admin-Tokens sind nicht möglich. Widerrufe zuerst eines.',
    operator_protected: 'Das ist dein eigenes Konto oder ein Betreiber mit Berechtigungen, die dir fehlen.',
    last_owner: 'Der Dienst und jede Organisation brauchen einen Inhaber. Gib zuerst jemand anderem diese Rolle.',
    owns_apps: 'Diesem Konto gehören registrierte Apps. Sie müssen zuerst gelöscht werden.',
    identity_not_found: 'Diese Identität gibt es nicht.',
    permission_denied: 'Dir fehlt die Berechtigung dafür. Wende dich an einen Inhaber.',
  },
}
