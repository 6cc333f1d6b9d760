import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { Notice } from '#organizations/membership/council/notice.ts'

/** Notice that an owner has requested a reset. */
export const resetRequestedNotice: Notice = {
  en: {
    subject: (name) => `An owner wants to end the council of ${name}`,
    text: (name, url) =>
      `An owner of ${name} wants to end its council without approvals. In 14 days they can name new people who ` +
      `sign for ${name}. If you don't agree, veto it before then: ${url}`,
  },
  de: {
    subject: (name) => `Der Rat von ${name} soll enden`,
    text: (name, url) =>
      `Ein Mitglied mit der Rolle Inhaber möchte den Rat von ${name} ohne Freigaben beenden. In 14 Tagen kann es ` +
      `neue Personen bestimmen, die für ${name} unterschreiben. Wenn du nicht einverstanden bist, lege vorher ` +
      `Einspruch ein: ${url}`,
  },
  ar: {
    subject: (name) => `يريد أحد المالكين إنهاء مجلس ${isolate(name)}`,
    text: (name, url) =>
      `يريد أحد مالكي ${isolate(name)} إنهاء مجلسها دون موافقات. بعد 14 يومًا يستطيع تعيين أشخاص جدد يوقّعون باسم ` +
      `${isolate(name)}. إذا كنت لا توافق، فاعترض قبل ذلك:\n${url}`,
  },
}

/** Notice that a signatory has vetoed a reset. */
export const resetVetoedNotice: Notice = {
  en: {
    subject: (name) => `The council of ${name} stays`,
    text: (name, url) => `A member of the council of ${name} has vetoed its end. The council stays as it is: ${url}`,
  },
  de: {
    subject: (name) => `Der Rat von ${name} bleibt`,
    text: (name, url) =>
      `Ein Mitglied des Rats von ${name} hat Einspruch gegen sein Ende eingelegt. Der Rat bleibt, wie er ist: ${url}`,
  },
  ar: {
    subject: (name) => `يبقى مجلس ${isolate(name)}`,
    text: (name, url) => `اعترض أحد أعضاء مجلس ${isolate(name)} على إنهائه. يبقى المجلس كما هو:\n${url}`,
  },
}

/** Notice that a council has ended by a reset. */
export const resetDoneNotice: Notice = {
  en: {
    subject: (name) => `The council of ${name} has ended`,
    text: (name, url) =>
      `An owner of ${name} has ended its council without approvals, 14 days after the request. Receipts of ` +
      `${name} show this from now on: ${url}`,
  },
  de: {
    subject: (name) => `Der Rat von ${name} wurde beendet`,
    text: (name, url) =>
      `Ein Mitglied mit der Rolle Inhaber hat den Rat von ${name} ohne Freigaben beendet, 14 Tage nach der ` +
      `Ankündigung. Belege von ${name} zeigen das ab jetzt: ${url}`,
  },
  ar: {
    subject: (name) => `أُنهي مجلس ${isolate(name)}`,
    text: (name, url) =>
      `أنهى أحد مالكي ${isolate(name)} مجلسها دون موافقات، بعد 14 يومًا من الطلب. تُظهر إيصالات ` +
      `${isolate(name)} ذلك من الآن فصاعدًا:\n${url}`,
  },
}
