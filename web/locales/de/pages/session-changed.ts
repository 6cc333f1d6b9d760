import type { changedMessages as english } from '../../en/pages/session-changed.ts'

/** Holds the messages for a page that still shows an account which is no longer signed in. In German. */
export const changedMessages: typeof english = {
  title: 'Ein anderes Konto ist angemeldet',
  what:
    'Du hast dich in diesem Browser in einem anderen Konto angemeldet. Diese Seite zeigt noch das frühere und kann ' +
    'es nicht ändern.',
  typed:
    'Lade die Seite neu, um das angemeldete Konto zu sehen. Kopiere vorher, was du hier eingegeben hast: Es geht ' +
    'beim Neuladen verloren.',
  reload: 'Neu laden',
  refused: 'Nicht ausgeführt: Dieser Browser ist jetzt in einem anderen Konto angemeldet. Lade die Seite neu.',
}
