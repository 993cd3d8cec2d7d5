/* So a plugin needs the library of below.c. */
void below(void);
void above(void);

void above(void)
{
    below();
}
