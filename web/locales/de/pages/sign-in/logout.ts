import type { logoutMessages as english } from '../../../en/pages/sign-in/logout.ts'

/** Holds the messages for signing out. In German. */
export const logoutMessages: typeof english = {
  title: 'Abmelden',
  question: 'Abmelden?',
  who: 'Dieser Browser ist in diesem Konto angemeldet:',
  signOut: 'Abmelden',
  stay: 'Angemeldet bleiben',
  signedOut: 'Du bist abgemeldet',
  elsewhere: 'Bei manchen Apps bist du vielleicht noch angemeldet.',
  refused: 'Die App wollte dich an eine Adresse schicken, die sie nicht registriert hat. Darum bleibst du hier.',
  signInAgain: 'Wieder anmelden',
  home: 'Zur Startseite',
  leaving: (host) => `Abgemeldet. Zurück zu ${host}\u00a0…`,
}
