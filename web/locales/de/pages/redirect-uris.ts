import type { redirectMessages as english } from '../../en/pages/redirect-uris.ts'

/** Holds the messages on redirect URIs. In German. */
export const redirectMessages: typeof english = {
  check: 'Scheitert die Anmeldung an der Redirect-URI?',
  checkWhat: 'Die App muss genau einen registrierten Text senden. Füge ein, was sie sendet, und sieh den Unterschied.',
  sent: 'redirect_uri, die die App sendet',
  matches: 'Diese Redirect-URI ist registriert.',
  faults: {
    separator: 'enthält ein Komma oder Semikolon nach einer URL. Gib eine pro Zeile ein.',
    notAbsolute: 'ist keine vollständige URL. Beginne mit https://.',
    fragment: 'hat ein Fragment (#…), das Browser nicht senden. Entferne es.',
    wildcard: 'enthält * oder \\. Platzhalter funktionieren nicht: Registriere jede URI.',
    characters: 'enthält Zeichen, die es in URLs nicht gibt. Codiere sie als %XX.',
    tooLong: 'ist zu lang. Höchstens 2000 Zeichen sind erlaubt.',
    credentials: 'enthält einen Benutzernamen oder ein Passwort. Entferne beides.',
    insecure: 'braucht https://. Nur localhost darf http:// verwenden.',
    customScheme:
      'hat ein unzulässiges Schema. Öffentliche Apps dürfen eine umgekehrte Domain haben: com.example.app:/.',
    origin: 'muss beginnen, wie Browser es schreiben: in Kleinbuchstaben, mit einfachem Host, ohne Standardport.',
    ownHost: 'ist eine Adresse dieses Dienstes. Gib eine deiner App ein.',
  },
  differences: {
    nothingRegistered: 'Keine Redirect-URI ist registriert. Füge diese oben hinzu.',
    slash: 'Nur der Schrägstrich am Ende ist anders als bei',
    letterCase: 'Nur Groß- und Kleinschreibung sind anders als bei',
    loopbackName: 'localhost und 127.0.0.1 sind verschiedene Namen. Registriert ist',
    scheme: 'http und https unterscheiden sich. Registriert ist',
    port: 'Der Port ist anders. Registriert ist',
    query: 'Der Teil nach dem Fragezeichen ist anders. Registriert ist',
    path: 'Der Pfad ist anders. Registriert ist',
    host: 'Keine registrierte Redirect-URI hat diesen Host. Am nächsten ist',
  },
}
