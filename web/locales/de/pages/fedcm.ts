import type { fedcmMessages as english } from '../../en/pages/fedcm.ts'

/** Holds the messages of the window that completes a sign-in in a browser dialog. In German. */
export const fedcmMessages: typeof english = {
  ending: 'Zurück zur App\u00a0…',
  over: 'Fertig',
  overHint: 'Schließe dieses Fenster und fahre in der App fort.',
  fault: 'Diese Anmeldung kann nicht fortgesetzt werden',
  close: 'Schließen',
  hint: 'Schließe dieses Fenster und versuche es in der App noch einmal.',
  hints: {
    expired:
      'Die Anmeldung ist abgelaufen, schon abgeschlossen oder gehört zu einem anderen Browser. Schließe dieses ' +
      'Fenster und versuche es in der App noch einmal.',
    access_denied:
      'Die App braucht deine Zustimmung, um dich anzumelden. Schließe dieses Fenster und versuche es in der App ' +
      'noch einmal.',
    app_access_denied:
      'Diese Identität hat keinen Zugang zur App. Schließe dieses Fenster und bitte den Betreiber um Zugang.',
    unauthorized_client:
      'Diese Seite gehört nicht zur App. Schließe dieses Fenster und wende dich an das Team der App.',
    invalid_request:
      'Die App hat eine ungültige Anfrage gestellt. Schließe dieses Fenster und wende dich an das Team der App.',
    server_error: 'Bei uns ist ein Fehler aufgetreten. Schließe dieses Fenster und versuche es gleich noch einmal.',
    temporarily_unavailable: 'Der Dienst ist ausgelastet. Schließe dieses Fenster und versuche es gleich noch einmal.',
  },
}
