import type { fedcmEn } from './fedcm-en.ts'

/** The words of the window that ends a sign-in through the browser. */
export const fedcmDe: typeof fedcmEn = {
  ending: 'Zurück zur App',
  over: 'Hier ist alles getan',
  overHint: 'Schließe dieses Fenster und mach in der App weiter.',
  fault: 'Diese Anmeldung kann nicht weitergehen',
  close: 'Schließen',
  hint: 'Schließe dieses Fenster und versuch es in der App noch einmal.',
  hints: {
    expired:
      'Sie ist abgelaufen, war schon beendet oder gehört zu einem anderen Browser. ' +
      'Schließe dieses Fenster und versuch es in der App noch einmal.',
    access_denied:
      'Die App darf nur anmelden, wer zustimmt. Schließe dieses Fenster und versuch es in der App noch einmal.',
    unauthorized_client:
      'Die Seite, die gefragt hat, gehört nicht zu dieser App. ' +
      'Schließe dieses Fenster; wer die App betreibt, kann es beheben.',
    invalid_request:
      'Die App wollte etwas, das nicht geht. Schließe dieses Fenster; wer die App betreibt, kann es beheben.',
    server_error: 'Bei uns ist etwas kaputtgegangen. Schließe dieses Fenster und versuch es gleich noch einmal.',
    temporarily_unavailable: 'Zu viel auf einmal. Schließe dieses Fenster und versuch es gleich noch einmal.',
  },
}
