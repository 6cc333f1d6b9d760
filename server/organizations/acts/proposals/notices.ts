import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { Notice } from '#organizations/membership/council/notice.ts'

/** Notice to those who can approve a proposal. */
export const proposedNotice: Notice = {
  en: {
    subject: (name) => `Your approval is needed for ${name}`,
    text: (name, url) =>
      `A member of ${name} has proposed a change that needs approvals. ` +
      `Read it and approve it within seven days, or leave it to expire: ${url}`,
  },
  de: {
    subject: (name) => `Deine Freigabe für ${name} wird gebraucht`,
    text: (name, url) =>
      `Ein Mitglied von ${name} hat eine Änderung vorgeschlagen, die Freigaben braucht. ` +
      `Lies sie und gib sie innerhalb von sieben Tagen frei, oder lass sie verfallen: ${url}`,
  },
  ar: {
    subject: (name) => `موافقتك مطلوبة في ${isolate(name)}`,
    text: (name, url) =>
      `اقترح عضو في ${isolate(name)} تغييرًا يحتاج إلى موافقات. ` +
      `اقرأه ووافق عليه خلال سبعة أيام، أو اتركه حتى تنتهي صلاحيته:\n${url}`,
  },
}
