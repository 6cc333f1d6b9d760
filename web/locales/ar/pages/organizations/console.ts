import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { consoleMessages as english } from '../../../en/pages/organizations/console.ts'

/** Holds the messages of the frame of the organization pages, which all of them load. In Arabic. */
export const consoleMessages: typeof english = {
  title: 'المؤسسات',
  retry: 'إعادة المحاولة',
  add: 'مؤسسة جديدة',
  joined: (organization) => `انضممت إلى ${isolate(organization)}.`,
  signedActs: {
    title: 'إجراءات إدارية موقّعة',
    required: 'يجب أن يوقّع المسؤولون تغييراتهم. يحتفظ سجل التدقيق بالتوقيعات.',
    notRequired:
      'المسؤولون الذين لديهم مفتاح توقيع يوقّعون التغييرات التي يجرونها على هذه الصفحات، ' +
      'ويحتفظ سجل التدقيق بالتوقيعات. التوقيع اختياري.',
    require: 'اشتراط التوقيع',
    letUnsigned: 'جعل التوقيع اختياريًا',
    outcomes: {
      done: (change) => `${isolate(change)}. يحتفظ سجل التدقيق بتوقيعك.`,
      deleted: (change) => `${isolate(change)}.`,
      declined: () => 'لم يتغير شيء: لم توقّع.',
      proposed: () => 'تم تقديم المقترح. يجب أن يوافق عليه آخرون قبل تنفيذه.',
      ended: () => 'لم يتغير شيء. أجرِ التغيير مرة أخرى لتوقيعه.',
    },
  },
  roles: {
    owner: 'مالك',
    admin: 'مسؤول',
    signer: 'موقِّع',
    member: 'عضو',
    viewer: 'مُطَّلِع',
  },
  sections: {
    overview: 'نظرة عامة',
    members: 'الأعضاء',
    documents: 'المستندات',
    council: 'المجلس',
    domains: 'النطاقات',
    sso: 'الدخول الموحّد',
    directory: 'مزامنة الدليل',
    keys: 'المفاتيح',
    settings: 'الإعدادات',
    activity: 'سجل التدقيق',
  },
  access: 'الوصول',
  switchTo: 'تبديل المؤسسة',
  switchFrom: (organization, role) => `${isolate(organization)} دورك: ${role}. تبديل المؤسسة`,
  youAre: (role) => `دورك: ${role}`,
}
