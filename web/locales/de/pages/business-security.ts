import { plural } from '../../plural.ts'
import type { organizationSecurityMessages as english } from '../../en/pages/business-security.ts'

/** Holds the messages for SSO, SCIM, domains, keys and signed admin actions of organizations. In German. */
export const organizationSecurityMessages: typeof english = {
  concerns: {
    organization: 'Organisation',
    member: 'Mitglied',
    invitation: 'Eingeladen',
    domain: 'Domain',
    connection: 'Verbindung',
    key: 'Schlüssel',
    replaces: 'Ersetzt Schlüssel',
    yes: 'Ja',
    no: 'Nein',
    none: 'leer',
    secret: 'verborgen',
  },

  sso: {
    none: 'Noch keine Verbindung',
    noneWhat:
      'Verbindet euren OpenID- oder SAML-Anbieter, etwa Okta, Entra ID oder Google Workspace. Jedes Mitglied ' +
      'verknüpft dann sein Arbeitskonto einmal mit einem Passkey.',
    what: 'Mitglieder melden sich mit ihrem Arbeitskonto an. Sie verknüpfen es einmal mit einem Passkey.',
    add: 'SSO-Verbindung hinzufügen',
    create: 'Verbindung hinzufügen',
    titles: {
      oidc: 'OpenID-Connect-Anbieter',
      saml: 'SAML-2.0-Anbieter',
    },
    instead: {
      oidc: 'Stattdessen OpenID Connect verwenden',
      saml: 'Stattdessen SAML verwenden',
    },
    fields: {
      issuer: 'Issuer',
      clientId: 'Client-ID',
      clientSecret: 'Client-Secret',
      metadataUrl: 'Metadaten-URL',
    },
    hints: {
      issuer: 'Genau wie der Anbieter ihn anzeigt.',
      clientId: 'Von der Webanwendung, die ihr beim Anbieter registriert habt.',
      clientSecret: 'Wird verschlüsselt gespeichert und nicht noch einmal angezeigt.',
      metadataUrl: 'Muss mit https:// beginnen.',
    },
    missing: 'Dieses Feld ist erforderlich.',
    noProvider: 'Unter dieser Adresse wurde kein Anbieter gefunden. Sie muss aus dem Internet erreichbar sein.',
    callback: 'Redirect-URI (beim Anbieter eintragen)',
    ourMetadata: 'Entity-ID und Metadaten-URL (beim Anbieter eintragen)',
    acs: 'Assertion-Consumer-Service-URL (ACS)',
    entityId: 'Entity-ID (Audience)',
    registerFirst: {
      oidc: 'Registriert zuerst eine Webanwendung bei eurem Anbieter. Er fragt nach dieser Redirect-URI.',
      saml: 'Erstellt zuerst eine SAML-Anwendung bei eurem Anbieter. Er fragt nach diesen Werten.',
    },
    enterThen: {
      oidc: 'Gib dann ein, was der Anbieter für die Anwendung anzeigt.',
      saml: 'Gib dann ein, wo der Anbieter seine Metadaten veröffentlicht.',
    },
    untested: 'Noch nicht getestet.',
    tested: (day) => `Getestet: ${day}.`,
    unconfirmed: 'Noch von keinem Inhaber bestätigt. Bis dahin zählt die Verbindung dort nicht, wo SSO verlangt wird.',
    confirm: 'Verbindung bestätigen',
    confirmQuestion: (name) => `${name} bestätigen?`,
    confirmWhat: (issuer) =>
      `Mitglieder, die sich über ${issuer} anmelden, erhalten dann Zugriff, wo SSO verlangt wird. Prüft, ob das euer ` +
      'Identitätsanbieter ist.',
    disabled: 'Ausgeschaltet. Niemand kann sich damit anmelden.',
    joins: (domains) => `Wer eine bestätigte Adresse bei ${domains} hat, tritt automatisch bei.`,
    noDomains: 'Nur bestehende Mitglieder können sie verwenden.',
    directed: 'Euer Verzeichnis (SCIM) steuert, wer beitreten kann.',
    change: 'Bearbeiten',
    changeTitle: 'Verbindung bearbeiten',
    renewed: {
      clientSecret: 'Leer lassen, um das aktuelle Secret zu behalten.',
      metadataUrl: 'Noch einmal eingeben, um die Schlüssel des Anbieters neu zu laden.',
    },
    notReadAgain: {
      invalid_metadata:
        'Das sind keine Metadaten desselben Anbieters. Fügt einen anderen Anbieter als neue Verbindung hinzu.',
      insufficient_scope:
        'Schlüssel oder Anmelde-URL des Anbieters haben sich geändert. Nur ein Inhaber kann diese Änderung speichern.',
    },
    encryption: 'Assertion-Verschlüsselung',
    test: 'Testen',
    enable: 'Einschalten',
    disable: 'Ausschalten',
    remove: 'Löschen',
    removeTitle: (name) => `${name} löschen?`,
    removeWhat:
      'Mitglieder, die nur über diese Verbindung angemeldet sind, werden abgemeldet, und alle Kontoverknüpfungen ' +
      'werden entfernt.',
    removeNow: 'Verbindung löschen',
    everybody: 'SSO-Pflicht',
    required: 'Mitglieder müssen sich mit SSO anmelden. Inhaber können hier weiterhin einen Passkey verwenden.',
    notRequired: 'Mitglieder können sich auch nur mit einem Passkey anmelden.',
    require: 'SSO verlangen',
    letWithout: 'SSO nicht mehr verlangen',
  },

  keys: {
    what: 'Ein Schlüssel, den alle Mitglieder teilen. Apps verschlüsseln damit Daten für die Organisation.',
    none: 'Noch kein Schlüssel',
    noneWhat: 'Bis dahin können Apps keine Daten für die Organisation verschlüsseln.',
    inForce: (version, day) => `Schlüssel ${version}, erstellt: ${day}.`,
    kept: {
      svc_standard: 'Von diesem Dienst gespeichert.',
      customer_kms: 'Von eurem KMS gespeichert.',
      identity_grants: 'Nur Mitglieder, mit denen er geteilt wurde, können ihn entsperren.',
    },
    without: (members) =>
      plural('de', members, { one: '1 Mitglied hat ihn nicht.', other: `${members} Mitglieder haben ihn nicht.` }),
    due: (day) =>
      `Ersetzen empfohlen seit ${day}: Ein Mitglied, das den Schlüssel haben könnte, ist nicht mehr dabei, oder die ` +
      'Aufbewahrung wurde geändert.',
    first: 'Schlüssel erstellen',
    replace: 'Schlüssel ersetzen',
    share: 'Mit Mitgliedern teilen',
    keeper: 'Aufbewahrung der Schlüssel',
    change: 'Aufbewahrung ändern',
    modes: {
      standard: 'Dieser Dienst',
      enterprise_managed: 'Euer eigenes KMS',
      e2ee: 'Nur Mitglieder (Ende-zu-Ende)',
    },
    modesWhat: {
      standard: 'Mitglieder erhalten den Schlüssel automatisch.',
      enterprise_managed:
        'Euer Key-Management-Dienst entsperrt den Schlüssel jedes Mal, wenn ein Mitglied ihn braucht.',
      e2ee:
        'Der Schlüssel wird in einem Browser erstellt und von Mitglied zu Mitglied geteilt. Wir können ihn nicht ' +
        'lesen.',
    },
    save: 'Speichern',
    former: 'Frühere Schlüssel',
    remove: 'Löschen',
    removeTitle: (version) => `Schlüssel ${version} löschen?`,
    removeWhat:
      'Nur mit diesem Schlüssel verschlüsselte Daten sind dann nicht mehr lesbar, außer für Mitglieder mit einer ' +
      'Kopie.',
    removeNow: 'Schlüssel löschen',
    kms: 'KMS-URL',
    kmsStays: (url) => `Das KMS unter ${url} ist noch eingerichtet, speichert aber keinen eurer Schlüssel.`,
    kmsOpens: (url) => `Das KMS unter ${url} schützt noch frühere Schlüssel. Löscht diese, bevor ihr es entfernt.`,
    removeKms: 'KMS entfernen',
    kmsVerdicts: {
      invalid_kms: 'Der Dienst unter dieser URL kann nicht entschlüsseln, was er verschlüsselt hat.',
      kms_cannot_unwrap: 'Dieses KMS kann eure bestehenden Schlüssel nicht entsperren.',
    },
  },

  directory: {
    lead: 'Euer Verzeichnis erstellt, ändert und entfernt Mitglieder über SCIM, je Verbindung.',
    noConnection: 'Noch keine SSO-Verbindung',
    noConnectionWhat:
      'Ein Verzeichnis gehört zu einer SSO-Verbindung: Wen es erstellt, der meldet sich damit an. Fügt zuerst die ' +
      'Verbindung hinzu.',
    on: (day) => `Euer Verzeichnis steuert, wer beitreten kann. Token erstellt: ${day}.`,
    off: 'Kein Verzeichnis. Bestätigte Domains und Einladungen steuern, wer beitreten kann.',
    ownersOnly: 'Nur ein Mitglied, das Einstellungen ändern darf, kann es einrichten.',
    setUp: 'SCIM einrichten',
    change: 'Ändern',
    title: 'SCIM-Provisionierung',
    what:
      'Euer Verzeichnis steuert, wer mit dieser Verbindung beitreten kann; sonst kann es niemand. Wer dort ' +
      'deaktiviert oder gelöscht wird, verliert sofort den Zugriff.',
    made: (day) =>
      `SCIM-Token erstellt: ${day}. Ein neues ersetzt es. Wird das Token entfernt, werden alle provisionierten ` +
      'Personen vergessen; Mitglieder bleiben.',
    by: 'Personen zuordnen über',
    ways: {
      externalId: {
        label: 'externalId',
        about: 'Der Wert, den euer Anbieter als sub (OIDC) oder NameID (SAML) sendet.',
      },
      email: {
        label: 'E-Mail-Adresse',
        about: 'Eine Adresse, die euer Anbieter als bestätigt kennzeichnet.',
      },
    },
    make: 'Token erstellen',
    replace: 'Token ersetzen',
    remove: 'SCIM entfernen',
    issued: 'Tragt beide Werte in eurem Verzeichnis ein. Das Token wird nicht noch einmal angezeigt.',
    address: 'SCIM-Basis-URL',
    token: 'Token',
  },

  groupRules: {
    title: 'Gruppen',
    what:
      'Mitglieder erhalten diese Gruppen für 30 Tage, wenn sie sich über diese Verbindung anmelden. ' +
      'Was eine Gruppe in Apps bewirkt, entscheidet der Betreiber dieses Dienstes.',
    rule: (claim: string, value: string, group: string) => `${claim} = ${value} → ${group}`,
    claim: 'Claim oder Attribut',
    value: 'Wert',
    valueHint: 'Genau so, wie euer Anbieter ihn sendet.',
    group: 'Gruppe',
    groupHint: 'Kleinbuchstaben, Ziffern und . _ / -',
    missing: 'Dieses Feld ist erforderlich.',
    add: 'Regel hinzufügen',
    remove: 'Entfernen',
  },
  encryption: {
    title: 'Assertion-Verschlüsselung',
    what:
      'Veröffentlicht einen Schlüssel, damit euer Anbieter SAML-Assertions verschlüsseln kann. Manche Anbieter ' +
      'beginnen, sobald sie ihn sehen, nicht immer mit einem unterstützten Verfahren. Testet danach die Verbindung.',
    published: (day) =>
      `Schlüssel veröffentlicht; Zertifikat gültig bis ${day}. Nach dem Ersetzen oder Entfernen gilt der alte noch ` +
      '30 Tage.',
    make: 'Schlüssel veröffentlichen',
    replace: 'Schlüssel ersetzen',
    remove: 'Schlüssel entfernen',
    save: 'Zertifikat herunterladen',
  },

  domains: {
    what: 'Bestätigt eine Domain, damit Personen mit ihren E-Mail-Adressen über SSO ohne Einladung beitreten können.',
    domain: 'Domain',
    hint: 'Zum Beispiel example.com',
    claim: 'Domain hinzufügen',
    pending: 'Noch nicht bestätigt. Fügt diesen DNS-Eintrag zu eurer Domain hinzu und prüft ihn dann.',
    verified: (day) => `Bestätigt: ${day}. Der DNS-Eintrag muss bestehen bleiben.`,
    failing: (day) =>
      `Der DNS-Eintrag fehlt. Stellt ihn wieder her, sonst verliert die Domain ihre Bestätigung. Frist: ${day}.`,
    record: 'DNS-Eintrag',
    recordName: 'TXT-Eintrag',
    recordValue: 'Wert',
    check: 'DNS-Eintrag prüfen',
    remove: 'Entfernen',
    removeTitle: (domain) => `${domain} entfernen?`,
    removeWhat:
      'Personen mit Adressen dieser Domain können nicht mehr automatisch beitreten, und eine andere Organisation ' +
      'kann sie bestätigen.',
    removePending: 'Der DNS-Eintrag wird ungültig. Wenn ihr die Domain wieder hinzufügt, erhält sie einen neuen.',
    removeNow: 'Domain entfernen',
    verdicts: {
      invalid: 'Gebt eine Domain ein, etwa example.com.',
      public: 'Das ist eine öffentliche Domain; sie kann keiner einzelnen Organisation gehören.',
      claimed: 'Diese Domain ist schon in eurer Liste.',
      'too many': 'Ihr habt die Höchstzahl von 50 Domains erreicht. Entfernt zuerst eine.',
      taken:
        'Eine andere Organisation hat diese Domain bestätigt, und ihr DNS-Eintrag besteht noch. Entfernt ihn zuerst.',
      unanswered: 'Die Nameserver der Domain antworten nicht. Versucht es gleich noch einmal.',
      nothing: 'DNS-Eintrag nicht gefunden. Neue Einträge sind manchmal erst nach einer Stunde sichtbar.',
      'other text': 'Der TXT-Eintrag existiert, hat aber einen anderen Wert.',
      alias: 'Unter diesem Namen steht ein CNAME-Eintrag. Ersetzt ihn durch den TXT-Eintrag.',
    },
  },

  refused: {
    invalid_request: 'Manche Werte sind ungültig. Prüft eure Eingaben.',
    identity_not_found: 'Niemand hat diesen Benutzernamen.',
    invitation_not_found:
      'Diese Einladung ist nicht mehr offen: Sie wurde angenommen, abgelehnt oder widerrufen, oder sie ist abgelaufen.',
    organization_not_found:
      'Du kannst diese Organisation nicht mehr verwenden: Du bist kein Mitglied mehr, oder sie wurde gesperrt oder ' +
      'gelöscht.',
    signed_action_required: 'Nicht gespeichert: Du hast diese Änderung nicht unterschrieben.',
    no_signing_key:
      'Nicht gespeichert: Diese Organisation verlangt Unterschriften, und diese Identität hat noch keinen ' +
      'Signaturschlüssel. Erstelle einen in deinem Konto unter „Unterschriften“.',
    passkey_required:
      'Nicht gespeichert: Du bist mit SSO angemeldet. Melde dich für diese Änderung mit deinem Passkey an.',
    invalid_action_signature: 'Die Unterschrift ist ungültig. Unterschreibe noch einmal.',
    connection_not_found: 'Diese Verbindung gibt es nicht mehr.',
    invalid_issuer:
      'Unter diesem Issuer wurde kein OpenID-Anbieter gefunden. Er muss aus dem Internet erreichbar sein.',
    invalid_metadata: 'Unter dieser URL wurden keine SAML-Metadaten gefunden.',
    domain_not_verified: 'Eine dieser Domains ist für die Organisation nicht mehr bestätigt.',
    too_many_groups:
      'Eure Organisation kann keine weiteren Gruppen haben. Bittet den Betreiber dieses Dienstes, einige zu löschen.',
    too_many_connections: 'Ihr habt die Höchstzahl von zehn Verbindungen erreicht. Löscht zuerst eine.',
    connection_ending: 'Die Mitglieder dieser Verbindung werden noch abgemeldet. Versucht es in einer Minute erneut.',
    sso_connection_required: 'SSO wird über diese Verbindung verlangt. Schaltet die SSO-Pflicht zuerst aus.',
    sso_connection_untested:
      'Bevor ihr SSO verlangt, testet eine Verbindung und lasst sie von einem Inhaber bestätigen.',
    scim_users_exist: 'Es wurden schon Personen mit einer anderen Zuordnung provisioniert. Entfernt zuerst SCIM.',
    encryption_key_not_found: 'Diese Verbindung hat keinen Verschlüsselungsschlüssel mehr.',
    too_many_encryption_keys: 'Zu viele frühere Schlüssel gelten noch. Wartet, bis einer abläuft.',
    scim_token_not_found: 'SCIM ist für diese Verbindung nicht mehr eingerichtet.',
    domain_not_found: 'Diese Domain ist nicht mehr in der Liste.',
    encryption_key_missing: 'Dieses Mitglied hat noch keinen Verschlüsselungsschlüssel.',
    invalid_key_wrap: 'Der Schlüssel konnte nicht geteilt werden. Versucht es noch einmal.',
    key_not_found: 'Diesen Schlüssel gibt es nicht mehr.',
    key_active: 'Das ist der aktive Schlüssel. Ersetzt ihn zuerst.',
    key_not_shared_with_you: 'Nur Mitglieder, die diesen Schlüssel haben, können ihn teilen.',
    key_used_before: 'Dieser Schlüssel wurde schon einmal verwendet. Erstellt einen neuen.',
    key_changed: 'Jemand hat den Schlüssel gerade ersetzt. Ladet die Seite neu.',
    too_many_keys: 'Ihr habt die Höchstzahl an Schlüsseln erreicht.',
    key_managed_by_service: 'Diesen Schlüssel erhalten Mitglieder automatisch.',
    invalid_kms: 'Der Dienst unter dieser URL kann nicht entschlüsseln, was er verschlüsselt hat.',
    kms_required: 'Gebt zuerst die URL eures KMS ein.',
    kms_not_found: 'Es ist kein KMS eingerichtet.',
    kms_in_use: 'Dieses KMS schützt noch Schlüssel.',
    kms_cannot_unwrap: 'Dieses KMS kann eure bestehenden Schlüssel nicht entsperren.',
    kms_changed: 'Jemand hat die KMS-Einstellungen gerade geändert. Ladet die Seite neu.',
    kms_unavailable: 'Euer KMS antwortet nicht. Versucht es gleich noch einmal.',
    act_superseded: 'Jemand anders hat gleichzeitig etwas geändert. Prüft, ob eure Änderung noch nötig ist.',
    state_changed: 'Jemand anders hat das gerade geändert. Prüft es und versucht es noch einmal.',
    invalid_act: 'Die Unterschrift ist ungültig. Nimm die Änderung noch einmal vor.',
    act_not_found: 'Diese Änderung ist abgelaufen oder wurde schon vorgenommen.',
    approvals_missing: 'Zuerst müssen andere das freigeben.',
    council_exists: 'Diese Organisation hat schon einen Rat.',
    no_council: 'Diese Organisation hat noch keinen Rat.',
    too_few_signatories: 'Der Rat braucht mehr Personen mit Freigaberecht als erforderliche Freigaben.',
    too_many_signatories: 'Ein Rat hat höchstens 100 Mitglieder.',
    already_signatory: 'Diese Person ist schon im Rat.',
    signatory_not_found: 'Diese Person ist nicht mehr im Rat.',
    signatory_protected:
      'Diese Person ist im Rat. Nur Inhaber können sie entfernen oder ihr diese Berechtigungen nehmen.',
    proposal_not_found: 'Dieser Vorschlag ist abgelaufen, umgesetzt oder zurückgezogen.',
    too_many_proposals: 'Es gibt zu viele offene Vorschläge. Setzt zuerst einen um oder zieht einen zurück.',
    reset_pending: 'Das Ende des Rats wurde schon angekündigt.',
    no_reset: 'Das Ende des Rats ist nicht mehr angekündigt.',
    reset_too_early: 'Die 14 Tage sind noch nicht vorbei.',
    reset_expired: 'Die Ankündigung ist abgelaufen. Wiederholt sie.',
  },
}
