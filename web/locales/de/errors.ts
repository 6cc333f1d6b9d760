import type { problemMessages as english } from '../en/errors.ts'
import { formatWait } from '../locale.ts'

/** Holds the messages for errors. In German. */
export const problemMessages: typeof english = {
  problem: {
    unreachable: 'Der Server ist nicht erreichbar. Prüfe deine Verbindung und versuche es noch einmal.',
    unexpected: 'Auf dieser Seite ist ein Fehler aufgetreten. Lade sie neu und versuche es noch einmal.',
    suspended: (reason) => `Der Betreiber hat dein Konto gesperrt: „${reason}“`,
    rateLimited: (seconds) => `Zu viele Versuche. Warte ${formatWait(seconds, 'de')} und versuche es noch einmal.`,
    ceremony: {
      declined:
        'Es wurde kein Passkey verwendet. Versuche es noch einmal oder wähle im Browser-Dialog ein anderes Gerät.',
      superseded: 'Eine andere Passkey-Anfrage wurde gestartet. Versuche es noch einmal.',
      unsupported: 'Dieser Browser unterstützt keine Passkeys. Aktualisiere ihn oder verwende ein anderes Gerät.',
      'already registered':
        'Dieses Gerät hat schon einen Passkey für dieses Konto. Verwende diesen oder wähle ein anderes Gerät.',
      unfit: 'Dieses Gerät kann dich nicht mit Fingerabdruck, Gesicht oder PIN prüfen. Verwende ein anderes.',
      'wrong host':
        'Unter dieser Adresse funktionieren Passkeys nicht. Bitte den Betreiber, die Einstellungen zu prüfen.',
      failed: 'Der Passkey konnte nicht verwendet werden. Versuche es noch einmal oder verwende einen anderen.',
    },
    refused: {
      account_suspended: 'Der Betreiber hat dein Konto gesperrt.',
      invalid_credential: 'Dieser Passkey wird hier nicht akzeptiert. Verwende einen anderen.',
      invalid_request_uri: 'Die Anmeldung ist abgelaufen. Geh zurück zur App und melde dich noch einmal an.',
      invalid_flow: 'Dieser Schritt ist abgelaufen. Beginne neu.',
      sso_confirmation_outdated: 'Etwas hat sich geändert. Lies diese Seite noch einmal, bevor du fortfährst.',
      sso_connection_unavailable: 'Deine Organisation hat diese Anmeldung ausgeschaltet. Wende dich an deine Admins.',
      sso_provider_error:
        'Die Anmeldung deiner Organisation funktioniert gerade nicht. Versuche es gleich noch einmal.',
      sso_provider_timeout: 'Die Anmeldung deiner Organisation antwortet gerade nicht. Versuche es gleich noch einmal.',
      sso_not_a_member:
        'Deine Organisation muss diese Identität einladen oder ihre E-Mail-Domain bestätigen, bevor du beitreten ' +
        'kannst.',
      sso_account_already_linked: 'Dieses Konto deiner Organisation ist schon mit einer anderen Identität verknüpft.',
      sso_user_deactivated: 'Deine Organisation hat deinen Zugang deaktiviert. Wende dich an deine Admins.',
      credential_in_use: 'Dieser Passkey gehört schon zu einem Konto. Melde dich damit an.',
      app_disabled: 'Diese App wurde deaktiviert. Du kannst die Anfrage nur ablehnen.',
      signature_reused:
        'Genau diesen Text hast du schon unterschrieben, für eine andere App oder in einer anderen Rolle. Lehne die ' +
        'Anfrage ab und lass die App einen eigenen Text senden.',
      already_approved: 'Du hast diese Anfrage schon freigegeben. Lade die Seite neu.',
      key_not_in_log: 'Der Beleg ist noch nicht bereit. Versuche es in einer Minute noch einmal.',
      unauthorized: 'Du bist abgemeldet. Melde dich wieder an.',
      reauthentication_required: 'Bestätige mit deinem Passkey, um fortzufahren.',
      passkey_required: 'Du bist mit SSO angemeldet. Melde dich dafür mit deinem Passkey an.',
      recovery_hold: 'Dein Passkey stammt aus einer Wiederherstellung. Gib im Konto deinen Wiederherstellungscode ein.',
      recovery_limited:
        'Dein Passkey stammt aus einer Wiederherstellung. Gib im Konto deinen Wiederherstellungscode ein.',
      organization_access_denied: 'Du bist kein Mitglied dieser Organisation mehr. Lade die Seite neu.',
      enterprise_sso_required: 'Diese Organisation verlangt SSO. Lade die Seite neu und melde dich noch einmal an.',
      invalid_email: 'Gib eine gültige E-Mail-Adresse ein.',
      invalid_code: 'Falscher oder abgelaufener Code. Fordere nach fünf Versuchen einen neuen an.',
      undeliverable: 'Der Mailserver hat diese Adresse abgelehnt. Prüfe die Schreibweise.',
      mail_not_set_up: 'Bei diesem Dienst ist kein E-Mail-Versand eingerichtet.',
      app_not_found: 'Diese App gibt es nicht mehr.',
      identity_suspended: 'Eine deiner Identitäten ist gesperrt.',
      operator_protected:
        'Mit deiner eigenen Einladung trittst du keiner Gruppe bei. Lass dich von einem anderen Betreiber einladen.',
      last_identity: 'Das ist deine einzige Identität. Um sie zu entfernen, lösche dein Konto.',
      too_many_pending: 'Zu viele deiner Geräte möchten entsperrt werden. Warte ein paar Minuten.',
      organization_not_found: 'Du bist kein Mitglied dieser Organisation mehr.',
      no_signing_key: 'Du hast noch keinen Signaturschlüssel. Erstelle einen in deinem Konto unter „Unterschriften“.',
      insufficient_scope: 'Deine Rolle erlaubt das nicht.',
      slug_taken: 'Dieser URL-Name ist vergeben. Wähle einen anderen.',
      too_many_slugs:
        'Der URL-Name wurde in 90 Tagen dreimal geändert. Verwende einen früheren oder warte, bis einer frei wird.',
      too_many_organizations: 'Diese Identität hat die Höchstzahl an Organisationen erreicht.',
      member_not_found: 'Diese Person ist kein Mitglied mehr.',
      last_owner:
        'Mindestens ein Inhaber muss bleiben. Gib zuerst jemand anderem diese Rolle oder lösche die Organisation.',
      already_member: 'Diese Person ist schon Mitglied.',
      too_many_invitations: 'Zu viele offene Einladungen. Widerrufe zuerst einige.',
      invitation_not_found: 'Diese Einladung ist nicht mehr gültig.',
      invitation_not_for_you: 'Diese Einladung ist für jemand anders.',
      key_changed: 'Jemand hat den Schlüssel gerade ersetzt. Lade die Seite neu.',
      key_history_changed: 'Jemand hat den Schlüssel gerade ersetzt. Lade die Seite neu.',
      foreign_signing_key:
        'Der Dienst zeigt einen Signaturschlüssel an, der nicht deiner ist. Es wurde nichts unterschrieben. Wende ' +
        'dich an den Betreiber.',
      key_granted_already: 'Jemand hat diesen Schlüssel gerade geteilt. Lade die Seite neu.',
      too_many_keys: 'Die Höchstzahl an Schlüsseln ist erreicht.',
      kms_changed: 'Jemand hat die KMS-Einstellungen gerade geändert. Lade die Seite neu.',
      kms_unavailable: 'Das KMS antwortet nicht korrekt. Versuche es gleich noch einmal.',
      signed_action_required: 'Nicht gespeichert: Diese Organisation verlangt, dass du diese Änderung unterschreibst.',
      temporarily_unavailable: 'Der Server ist gerade ausgelastet. Versuche es gleich noch einmal.',
      server_error: 'Bei uns ist ein Fehler aufgetreten. Versuche es gleich noch einmal.',
    },
  },
}
