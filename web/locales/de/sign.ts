import type { signMessages as english } from '../en/sign.ts'
import { plural } from '../plural.ts'

/** Holds the messages for signing a text or an admin action. In German. */
export const signMessages: typeof english = {
  sign: {
    title: 'Deine Unterschrift',
    asks: 'Bittet um deine Unterschrift',
    demonstration: 'Das ist eine Demo. Die Unterschrift wird nicht verwendet.',
    notConnected: 'Du hast diese App noch nie verwendet. Unterschreibe nur, wenn du weißt, warum sie fragt.',
    text: 'Text, den du unterschreibst',
    exactly: 'Du unterschreibst genau das',
    lines: (count) => plural('de', count, { one: '1 Zeile', other: `${count} Zeilen` }),
    checked: 'Geprüft: keine unsichtbaren oder verwechselbaren Zeichen.',
    left: (time) => `noch ${time}`,
    key: (handle, key) => `${handle} · Signaturschlüssel ${key}`,
    byPasskey: 'Unterschreiben mit deinem Passkey',
    about: 'Was eine Unterschrift bewirkt',
    aboutWhat: (app) =>
      `${app} erhält diesen Text mit einer Unterschrift, die nur dein Schlüssel erzeugen kann. Alle können sie ` +
      'später prüfen, ohne uns zu fragen. Du behältst einen Beleg.',
    timeLeft: 'Verbleibende Zeit',
    soonOver: 'Weniger als eine Minute',
    sign: 'Unterschreiben',
    deny: 'Ablehnen',
    readOn: 'Lies bis zum Ende, um zu unterschreiben.',
    unreadable:
      'Das ist kein lesbarer Text, nur ein Code. Wenn du ihn unterschreibst, weißt du nicht, wozu du Ja sagst.',
    reserved: (service) =>
      `Das ist kein Text für Menschen, sondern ein Befehl an ${service} selbst, zum Beispiel einen Schlüssel zu ` +
      'ändern. Du kannst ihn hier nicht unterschreiben.',
    news: {
      signatures: 'Die Unterschriften haben sich geändert. Sieh sie dir an und entscheide dann.',
      key: 'Dein Signaturschlüssel wurde ersetzt. Du unterschreibst mit dem neuen.',
    },
    insist: 'Trotzdem fortfahren',
    stopped: 'Nichts wurde unterschrieben',
    stoppedWhy: {
      statement:
        'Der Dienst beschreibt diese Anfrage anders, als du sie hier gesehen hast. Lade die Seite neu und lies sie ' +
        'noch einmal. Wenn das wieder geschieht, unterschreibe nicht und melde es dem Betreiber.',
      changed:
        'Die App, die Anfrage oder dein Benutzername hat sich geändert, während du unterschrieben hast. Lade die ' +
        'Seite neu und lies sie noch einmal.',
      clock:
        'Die Uhren dieses Geräts und des Dienstes weichen um mehr als zehn Minuten voneinander ab. Stelle Datum und ' +
        'Uhrzeit des Geräts automatisch ein und lade die Seite dann neu.',
    },
    reload: 'Neu laden',
    codeWhy:
      'Kein Passkey auf diesem Gerät kann deinen Signaturschlüssel entsperren. Gib deinen Wiederherstellungscode ' +
      'ein; er bleibt gültig.',
    whoAreYou: 'Melde dich an',
    whoAreYouWhy: 'Eine App bittet um deine Unterschrift. Melde dich an, um den Text zu sehen.',
    inAWindow: 'In neuem Fenster öffnen',
    inAWindowWhy: (service) =>
      `Du liest und unterschreibst in einem eigenen Fenster von ${service}, in dem nichts den Text verdecken kann.`,
    unknownTitle: 'Hier gibt es nichts zu unterschreiben',
    unknownWhy: 'Diese Anfrage ist für jemand anders oder existiert nicht mehr.',
    ends: {
      signed: 'Unterschrieben',
      denied: 'Abgelehnt',
      expired: 'Abgelaufen',
    },
    endsWhat: {
      signed: 'Die App hat deine Unterschrift.',
      denied: 'Die App weiß, dass du abgelehnt hast.',
      expired: 'Die Anfrage ist ohne Unterschrift abgelaufen. Die App kann noch einmal fragen.',
    },
    ofOrganization: {
      asks: (organization) => `Bittet um die Unterschrift von ${organization}`,
      notConnected:
        'Kein Mitglied hat diese App für die Organisation verwendet. Unterschreibe nur, wenn du weißt, warum sie ' +
        'fragt.',
      approve: 'Freigeben',
      by: {
        sign: (handle) => `unterschrieben von ${handle}`,
        approve: (handle) => `freigegeben von ${handle}`,
      },
      approvals: (count, needed) => `Freigaben: ${count} von ${needed}`,
      did: {
        sign: (who) => `${who} hat unterschrieben`,
        approve: (who) => `${who} hat freigegeben`,
      },
      somebody: 'Jemand',
      done: {
        sign: 'Du hast unterschrieben',
        approve: 'Du hast freigegeben',
      },
      waitsFor: (organization) =>
        `Wartet auf weitere Mitglieder von ${organization}. Die App erhält die Unterschrift, sobald die nötigen ` +
        'Mitglieder unterschrieben und freigegeben haben.',
      approveInstead: 'Stattdessen freigeben',
      approveInsteadWhy:
        'Ein anderes Mitglied hat auch unterschrieben, aber es fehlen Freigaben. Wenn du freigibst, ersetzt das ' +
        'deine Unterschrift.',
      denyAfterAll: 'Anfrage ablehnen',
    },
    closeThis: 'Du kannst dieses Fenster schließen.',
    saveReceipt: 'Beleg herunterladen',
  },
}
