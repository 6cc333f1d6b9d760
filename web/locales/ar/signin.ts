import type { signinMessages as english } from '../en/signin.ts'
import { isolate } from '@countersign/protocol/formats/registries/languages'

/** Holds the messages for signing in to an app: SSO, consent and delegation. In Arabic. */
export const signinMessages: typeof english = {
  signin: {
    choose: 'اختر هوية',
    otherAccount: 'استخدام حساب آخر',
    requiresSso: (organization) => `تطلب منك ${isolate(organization)} تسجيل الدخول عبر SSO`,
    continueWith: (organization) => `المتابعة عبر ${isolate(organization)}`,
    approve: 'السماح',
    deny: 'رفض',
    change: 'تغيير',
    returnTo: (host) => `ستعود إلى ${isolate(host)}`,
    addEmail: 'إضافة عنوان بريد إلكتروني',
    leaving: (host) => `جارٍ الرجوع إلى ${isolate(host)}…`,
  },

  scopes: {
    openid: 'المعرّف',
    openidValue: 'معرّف دائم، ليتعرّف عليك التطبيق في المرة القادمة',
    name: 'الاسم',
    handle: 'اسم المستخدم',
    email: 'البريد الإلكتروني',
    noEmail: 'لا يوجد لهذه الهوية؛ لن تتم مشاركته',
    offline_access: 'الوصول',
    offline_accessValue: 'حتى تلغي ربط التطبيق، وأيضًا عند عدم استخدامك له',
    user_id: 'معرّف الحساب',
    user_idValue: 'واحد لكل هوياتك، فيمكن للتطبيقات معرفة أنها تعود إلى شخص واحد',
    groups: 'المجموعات',
    groupsValue: 'مجموعاتك التي يعرضها المشغّل على التطبيق',
    roles: 'الأدوار',
    rolesValue: 'أدوارك في التطبيق',
    encryption: 'التشفير',
    symmetricValue: 'بمفتاحك، الذي لا تستطيع هذه الخدمة قراءته',
    asymmetricValue: 'بزوج مفاتيحك، الذي لا تستطيع هذه الخدمة قراءته؛ يمكن لأي شخص البحث عن مفتاحك العام باسم المستخدم',
  },
}
