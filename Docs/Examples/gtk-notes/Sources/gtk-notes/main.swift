import CGtk
import StateRestoration
gtk_init()
print(gtk_get_major_version())
