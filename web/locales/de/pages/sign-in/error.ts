import type { errorMessages as english } from '../../../en/pages/sign-in/error.ts'
import { formatWait } from '../../../locale.ts'

/** Holds the messages for error pages. In German. */
export const errorMessages: typeof english = {
  forDevelopers: 'Für die Entwicklung der App',
  home: 'Zur Startseite',
  backTo: (host) => `Zurück zu ${host}`,
  settings: 'In den Einstellungen der App hinzufügen',
  openSettings: 'Einstellungen der App öffnen',
  nothingReceived: 'Keine redirect_uri',
  facts: { error: 'Fehler', reason: 'Grund', clientId: 'Client-ID', redirectUri: 'Erhalten' },
  unregistered: (app) =>
    `${app} hat dich mit einer Rücksprungadresse hierher geschickt, die nicht registriert ist. Keine Sorge: Es wurde ` +
    'nichts weitergegeben. Das Team der App kann das beheben.',
  nowhereToReturn: (app) =>
    `${app} hat dich ohne Rücksprungadresse hierher geschickt. Keine Sorge: Es wurde nichts weitergegeben. Das Team ` +
    'der App kann das beheben.',
  deactivated: (service) => `Wende dich an deine Admins. Dein Konto bei ${service} ist unverändert.`,
  stuck: 'Du kommst nicht weiter? Wende dich an den Betreiber dieses Dienstes und nenne diese Referenz-ID:',
  titles: {
    not_found: 'Seite nicht gefunden',
    invalid_client: 'App nicht verfügbar',
    invalid_redirect_uri: 'Diese Anmeldung kann nicht fortgesetzt werden',
    invalid_request_uri: 'Diese Anmeldung ist abgelaufen',
    invalid_sso_flow: 'Diese Anmeldung ist abgelaufen',
    sso_connection_unavailable: 'SSO ist nicht verfügbar',
    sso_denied: 'Deine Organisation hat die Anmeldung abgelehnt',
    sso_user_deactivated: 'Deine Organisation hat deinen Zugang deaktiviert',
    account_suspended: 'Dieses Konto ist gesperrt',
    sso_response_invalid: 'Ungültige Antwort deiner Organisation',
    sso_response_mismatch: 'Diese Antwort gehört zu einer anderen Anmeldung',
    sso_provider_error: 'Die Anmeldung deiner Organisation funktioniert nicht',
    sso_provider_timeout: 'Die Anmeldung deiner Organisation antwortet nicht',
    too_many_pending: 'Zu viele offene Anfragen',
    rate_limited: 'Zu viele Anfragen',
    request_not_found: 'Signaturanfrage nicht gefunden',
    server_error: 'Bei uns ist ein Fehler aufgetreten',
    temporarily_unavailable: 'Dienst vorübergehend nicht verfügbar',
  },
  title: 'Etwas ist schiefgegangen',
  rateLimited: (seconds) => `Warte ${formatWait(seconds, 'de')} und versuche es noch einmal.`,
  hints: {
    not_found: 'Prüfe die Adresse oder geh zur Startseite.',
    invalid_client:
      'Die App, die dich hierher geschickt hat, ist bei diesem Dienst nicht registriert oder deaktiviert. Es wurde ' +
      'nichts weitergegeben. Melde es dem Team der App.',
    invalid_redirect_uri:
      'Die App hat dich mit einer Rücksprungadresse hierher geschickt, die nicht registriert ist. Es wurde nichts ' +
      'weitergegeben. Melde es dem Team der App.',
    invalid_request_uri:
      'Sie ist abgelaufen oder wurde schon verwendet. Geh zurück zur App und melde dich noch einmal an.',
    invalid_sso_flow:
      'Sie ist abgelaufen, schon verwendet oder in einem anderen Browser begonnen. Geh zurück und beginne neu.',
    sso_connection_unavailable: 'Deine Organisation hat es ausgeschaltet. Wende dich an deine Admins.',
    sso_denied: 'Versuche es mit deinem Arbeitskonto noch einmal, oder wende dich an deine Admins.',
    account_suspended: 'Der Betreiber dieses Dienstes hat es gesperrt. Wende dich an den Betreiber.',
    sso_response_invalid:
      'Zu deiner Sicherheit haben wir abgebrochen. Deine Admins sehen den Grund im Audit-Log der Organisation.',
    sso_response_mismatch: 'Zu deiner Sicherheit haben wir abgebrochen. Geh zurück und beginne neu.',
    sso_provider_error: 'Versuche es gleich noch einmal. Deine Admins sehen den Grund im Audit-Log der Organisation.',
    sso_provider_timeout: 'Versuche es gleich noch einmal. Deine Admins sehen den Grund im Audit-Log der Organisation.',
    too_many_pending:
      'Zu viele deiner Geräte möchten entsperrt werden. Warte ein paar Minuten und versuche es noch einmal.',
    request_not_found: 'Der Link führt zu keiner Signaturanfrage. Geh zurück zur App und versuche es noch einmal.',
    server_error: 'Versuche es gleich noch einmal. Wenn es wieder passiert, nenne dem Betreiber die Referenz-ID unten.',
    temporarily_unavailable: 'Versuche es gleich noch einmal.',
  },
}
